package server

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

func TestEventsOfOrdersAreListedInTheOrderOfTheFeed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	records := NewFeedRecords(f.store, nil, slog.New(slog.DiscardHandler))
	types := []string{"order.created", "personal_link.created", "order.message_posted", "order.updated", "order.status_changed"}
	var want []string
	for day := range 3 {
		f.addEvents(t, today.AddDate(0, 0, day), len(types), func(i int, c *eventsv1.Change) {
			c.Type = types[i]
			if day > 0 && i != 1 && i != 2 {
				want = append(want, c.GetSubjectId())
			}
		})
	}
	var got []string
	request := &eventsv1.ListOrderEventsRequest{TenantId: f.tenant, From: timestamppb.New(today.AddDate(0, 0, 1)), Limit: 2}
	for end := false; !end; {
		page, err := records.ListOrderEvents(t.Context(), request)
		require.NoError(t, err)
		for _, e := range page.GetEvents() {
			got = append(got, e.GetOrderId())
			require.Equal(t, today, e.GetOccurredAt().AsTime())
		}
		request.After, end = page.GetNext(), page.GetEnd()
	}
	require.Equal(t, want, got)

	t.Run("and what comes later follows the last position", func(t *testing.T) {
		f.addEvents(t, today.AddDate(0, 0, 3), 1, nil)
		page, err := records.ListOrderEvents(t.Context(), request)
		require.NoError(t, err)
		require.Len(t, page.GetEvents(), 1)
		require.True(t, page.GetEnd())
	})
	t.Run("with the tenants and the oldest day", func(t *testing.T) {
		page, err := records.ListFeedTenants(t.Context(), &eventsv1.ListFeedTenantsRequest{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, []string{f.tenant}, page.GetTenantIds())
		require.Equal(t, today.Truncate(24*time.Hour), page.GetRetainedFrom().AsTime())
		page, err = records.ListFeedTenants(t.Context(), &eventsv1.ListFeedTenantsRequest{Limit: 2, AfterTenantId: &f.tenant})
		require.NoError(t, err)
		require.Empty(t, page.GetTenantIds())
	})
	t.Run("and limits", func(t *testing.T) {
		_, err := records.ListFeedTenants(t.Context(), &eventsv1.ListFeedTenantsRequest{AfterTenantId: new("x"), Limit: 5001})
		require.True(t, problem.Is(err, problem.InvalidRequest))
		for _, request := range []*eventsv1.ListOrderEventsRequest{
			{Limit: 1}, {TenantId: uuid.NewString()}, {TenantId: uuid.NewString(), Limit: 10_001},
		} {
			_, err := records.ListOrderEvents(t.Context(), request)
			require.True(t, problem.Is(err, problem.InvalidRequest))
		}
	})
}

func TestAnEventOfAnOrderIsFoundAgainWithTheStatusThatItReported(t *testing.T) {
	t.Parallel()
	f := setup(t)
	records := NewFeedRecords(f.store, nil, slog.New(slog.DiscardHandler))
	data := []string{`{"status": "REQUESTED"}`, `{"order": {"status": "SENT"}, "previousStatus": "PROCESSING"}`, `"no order"`}
	f.addEvents(t, today, len(data), func(i int, c *eventsv1.Change) { c.Data = []byte(data[i]) })
	page, err := records.ListOrderEvents(t.Context(), &eventsv1.ListOrderEventsRequest{TenantId: f.tenant, Limit: 10})
	require.NoError(t, err)
	for i, status := range []string{"REQUESTED", "SENT", ""} {
		event := page.GetEvents()[i]
		require.Empty(t, event.GetStatus(), "only if requested")
		after := event.GetPosition()
		after.Number--
		one, err := records.ListOrderEvents(t.Context(), &eventsv1.ListOrderEventsRequest{
			TenantId: f.tenant, After: after, Limit: 1, WithStatus: true,
		})
		require.NoError(t, err)
		require.Len(t, one.GetEvents(), 1)
		require.Equal(t, event.GetOrderId(), one.GetEvents()[0].GetOrderId())
		require.Equal(t, status, one.GetEvents()[0].GetStatus())
	}
}
