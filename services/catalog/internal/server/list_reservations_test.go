package server_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestReservationsAreListedByTheirOrders(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	var ids []string
	keys := map[string][]byte{}
	for range 5 {
		request := attempt(c, p, "S")
		call(f, f.ordering.Reserve, request)
		ids, keys[request.GetOrderId()] = append(ids, request.GetOrderId()), request.GetReservationKey()
	}
	slices.Sort(ids)
	f.confirmAndRelease(ids[1:2], ids[2:3])

	t.Run("page by page, if they hold stock", func(t *testing.T) {
		var listed []string
		request := &catalogv1.ListReservationsRequest{Limit: 3}
		for {
			page := call(f, f.ordering.ListReservations, request).GetReservations()
			for _, r := range page {
				require.Equal(t, keys[r.GetOrderId()], r.GetReservationKey())
				listed = append(listed, r.GetOrderId())
			}
			if len(page) < 3 {
				break
			}
			request.AfterOrderId = &page[2].OrderId
		}
		require.Equal(t, []string{ids[0], ids[1], ids[3], ids[4]}, listed)
	})
	t.Run("or by name, in every state", func(t *testing.T) {
		page := call(f, f.ordering.ListReservations, &catalogv1.ListReservationsRequest{OrderIds: ids[:3]}).GetReservations()
		var states []catalogv1.ReservationState
		for _, r := range page {
			states = append(states, r.GetState())
		}
		require.Equal(t, []catalogv1.ReservationState{
			catalogv1.ReservationState_RESERVATION_STATE_RESERVED, catalogv1.ReservationState_RESERVATION_STATE_CONFIRMED,
			catalogv1.ReservationState_RESERVATION_STATE_RELEASED,
		}, states)
	})
	t.Run("and a page has a limit", func(t *testing.T) {
		for _, request := range []*catalogv1.ListReservationsRequest{
			{}, {Limit: 5001}, {Limit: 1, AfterOrderId: new("x")}, {OrderIds: []string{"x"}}, {OrderIds: make([]string, 5001)},
		} {
			_, err := f.ordering.ListReservations(t.Context(), request)
			require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
		}
	})
}
