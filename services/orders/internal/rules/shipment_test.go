package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

func TestAShipmentIsWhole(t *testing.T) {
	t.Parallel()
	const page = "https://carrier.example/t?n=1#here"
	for name, tc := range map[string]struct {
		shipment *ordersv1.Shipment
		want     []string
	}{
		"a shipment": {&ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: page}, nil},
		"none":       {nil, []string{"shipment required"}},
		"an empty one": {&ordersv1.Shipment{}, []string{
			"shipment.carrier required", "shipment.trackingReference required", "shipment.trackingUrl required",
		}},
		"long texts": {&ordersv1.Shipment{
			Carrier: strings.Repeat("å", 101), TrackingReference: strings.Repeat("å", 129),
			TrackingUrl: "https://carrier.example/" + strings.Repeat("a", 2048),
		}, []string{"shipment.carrier too_long", "shipment.trackingReference too_long", "shipment.trackingUrl too_long"}},
		"plain http":      {tracked("http://carrier.example/"), []string{"shipment.trackingUrl invalid"}},
		"a script":        {tracked("javascript:alert(1)"), []string{"shipment.trackingUrl invalid"}},
		"no host":         {tracked("https:///t"), []string{"shipment.trackingUrl invalid"}},
		"credentials":     {tracked("https://a:b@carrier.example/"), []string{"shipment.trackingUrl invalid"}},
		"no address":      {tracked("T-1"), []string{"shipment.trackingUrl invalid"}},
		"a broken escape": {tracked("https://carrier.example/%zz"), []string{"shipment.trackingUrl invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := &fields.Errors{}
			rules.CheckShipment(tc.shipment, errs)
			require.Equal(t, tc.want, found(errs))
		})
	}
}

func tracked(page string) *ordersv1.Shipment {
	return &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: page}
}
