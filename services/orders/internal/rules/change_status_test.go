package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
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
		"two lines": {&ordersv1.Shipment{Carrier: "Post\nNord", TrackingReference: "T\x1b1", TrackingUrl: page}, []string{
			"shipment.carrier invalid", "shipment.trackingReference invalid",
		}},
		"nothing that is seen": {&ordersv1.Shipment{Carrier: "\u200b", TrackingReference: "\u2800", TrackingUrl: page}, []string{
			"shipment.carrier required", "shipment.trackingReference required",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			errs := &fields.Errors{}
			rules.CheckShipment(tc.shipment, errs)
			require.Equal(t, tc.want, found(errs))
		})
	}
	for _, page := range []string{
		"http://carrier.example/", "javascript:alert(1)", "https:///t", "https://a:b@carrier.example/", "T-1",
		"https://carrier.example/\r\nX: y", `https://carrier.example\@evil.example/`, "https://carrier.example/\u202e1-T",
		"https://carrier.example/\u200bT", "https://carrier.example/%zz",
	} {
		errs := &fields.Errors{}
		rules.CheckShipment(&ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: page}, errs)
		require.Equal(t, []string{"shipment.trackingUrl invalid"}, found(errs), page)
	}
}

const (
	requestedStatus  = ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	processingStatus = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
	sentStatus       = ordersv1.OrderStatus_ORDER_STATUS_SENT
	completedStatus  = ordersv1.OrderStatus_ORDER_STATUS_COMPLETED
	cancelledStatus  = ordersv1.OrderStatus_ORDER_STATUS_CANCELLED
)

// standing is an order in the status, with the fields of that status.
func standing(status ordersv1.OrderStatus) *rules.Current {
	o := &ordersv1.Order{Version: 7, Status: status, UpdatedAt: timestamppb.New(time.Unix(1000, 0))}
	switch status {
	case sentStatus, completedStatus:
		o.Shipments = []*ordersv1.Shipment{{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://c.example/"}}
	case cancelledStatus:
		o.CancellationReason = new("first reason")
	default:
	}
	return &rules.Current{Record: o, StockHold: "hold"}
}

func TestAnyStatusCanBeCorrectedToAnyOther(t *testing.T) {
	t.Parallel()
	now := time.Unix(2000, 0)
	for _, from := range rules.Statuses() {
		for _, to := range rules.Statuses() {
			t.Run(fmt.Sprintf("%s to %s", enumname.String(from), enumname.String(to)), func(t *testing.T) {
				before := standing(from)
				reason := ""
				if to == cancelledStatus {
					reason = "second reason"
				}
				change, err := rules.CorrectOrderStatus(before, to, reason, "new hold", now)
				require.NoError(t, err)
				if from == to {
					require.Nil(t, change)
					return
				}
				after := change.Record
				require.Equal(t, to, after.GetStatus())
				require.EqualValues(t, 8, after.GetVersion())
				require.Equal(t, now.UTC(), after.GetUpdatedAt().AsTime())
				require.Equal(t, to == cancelledStatus, after.CancellationReason != nil)
				require.Equal(t, reason, after.GetCancellationReason())
				wasSent := from == sentStatus || from == completedStatus
				beforeSent := to == requestedStatus || to == processingStatus
				require.Equal(t, wasSent && !beforeSent, len(after.GetShipments()) == 1)
				require.Equal(t, to == cancelledStatus, change.ReleaseStock)
				require.Equal(t, "new hold", change.TakeStock)
				require.Equal(t, from == cancelledStatus, rules.Reopens(from, to))
				require.Equal(t, "order.status_changed", change.Event.Type)
				require.Equal(t, from, change.Event.Data.(*ordersv1.OrderStatusChanged).GetPreviousStatus())
				require.True(t, proto.Equal(standing(from).Record, before.Record), "the previous record is not changed")
			})
		}
	}
}

func TestAnOrderWithErasedDetailsCannotReopen(t *testing.T) {
	t.Parallel()
	for _, from := range []ordersv1.OrderStatus{completedStatus, cancelledStatus} {
		for _, to := range rules.Statuses() {
			before := standing(from)
			before.DetailsErased = true
			_, err := rules.CorrectOrderStatus(before, to, "", "", time.Unix(2000, 0))
			if to == completedStatus || to == cancelledStatus {
				require.NoError(t, err)
				continue
			}
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, problem.NotEditable, p.Code)
			require.Equal(t, enumname.String(from), p.CurrentStatus)
		}
	}
}

func TestACorrectionNeedsAStatusAndForACancellationAReason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		to     ordersv1.OrderStatus
		reason string
		want   []string
	}{
		"a status":                      {sentStatus, "", nil},
		"a cancellation":                {cancelledStatus, "by mistake", nil},
		"no status":                     {0, "", []string{"status required"}},
		"an unknown status":             {99, "", []string{"status required"}},
		"a cancellation without reason": {cancelledStatus, " ", []string{"reason required"}},
		"a long reason":                 {cancelledStatus, strings.Repeat("å", 1001), []string{"reason too_long"}},
		"a reason for another status":   {sentStatus, "because", []string{"reason invalid"}},
		"the longest reason is valid":   {cancelledStatus, strings.Repeat("å", 1000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			errs := &fields.Errors{}
			rules.CheckStatusCorrection(tc.to, tc.reason, errs)
			require.Equal(t, tc.want, found(errs))
		})
	}
}

func TestAShipmentThatTheOrderHasChangesNothing(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*rules.Current, *ordersv1.Shipment, time.Time) (*rules.Change, error){
		"a dispatch": rules.DispatchOrder, "a correction": rules.CorrectShipment,
	} {
		before := standing(sentStatus)
		change, err := set(before, proto.CloneOf(before.Record.GetShipments()[0]), time.Unix(2000, 0))
		require.NoError(t, err, name)
		require.Nil(t, change, name)
		_, err = set(standing(completedStatus), before.Record.GetShipments()[0], time.Unix(2000, 0))
		require.True(t, problem.Is(err, problem.NotEditable), "%s: %v", name, err)
	}
}

func TestTheSandboxMakesUpWhatIsMissingOfAShipment(t *testing.T) {
	t.Parallel()
	errs := &fields.Errors{}
	first := rules.SandboxShipment("o", &ordersv1.DispatchSandboxOrderRequest{}, errs)
	require.Regexp(t, `^0037350\d{13}$`, first.GetTrackingReference())
	require.Equal(t, "https://tracking.example.com/"+first.GetTrackingReference(), first.GetTrackingUrl())
	again := rules.SandboxShipment("o", &ordersv1.DispatchSandboxOrderRequest{Carrier: new(" ")}, errs)
	require.True(t, proto.Equal(first, again), "the same each time")

	order := &ordersv1.Order{Id: "o", Shipments: []*ordersv1.Shipment{first}}
	second := rules.SandboxCorrection(order, &ordersv1.CorrectSandboxTrackingRequest{}, errs)
	require.NotEqual(t, first.GetTrackingReference(), second.GetTrackingReference())
	order.Shipments[0] = second
	third := rules.SandboxCorrection(order, &ordersv1.CorrectSandboxTrackingRequest{Carrier: new("DHL")}, errs)
	require.Equal(t, "DHL", third.GetCarrier())
	require.Equal(t, second.GetTrackingUrl(), third.GetTrackingUrl(), "what the request does not say stays")
	require.Empty(t, found(errs))
}
