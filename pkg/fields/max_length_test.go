package fields_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestTheProtocolFileSaysHowLongATextMayBe(t *testing.T) {
	t.Parallel()
	require.Equal(t, 500, fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "courierComment"))
	for _, unlimited := range []string{"brandId", "courier_comment", "unknown"} {
		require.Panics(t, func() { fields.MaxLength(&ordersv1.PlaceOrderRequest{}, unlimited) }, unlimited)
	}
}
