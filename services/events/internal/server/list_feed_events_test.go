package server

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

func TestListFeedEvents(t *testing.T) {
	t.Parallel()
	f := setup(t)
	other := uuid.NewString()
	var all []*eventsv1.Change
	for day := range 3 {
		f.addEvents(t, today.AddDate(0, 0, day), 150, func(i int, c *eventsv1.Change) {
			if i%3 == 0 {
				c.TenantId = other
			}
			c.RecordedAt = timestamppb.New(today.AddDate(0, 0, day).Add(time.Duration(i) * time.Minute))
			all = append(all, c)
		})
	}
	list := func(from, before time.Time, tenant *string) (ids []string) {
		req := &eventsv1.ListFeedEventsRequest{
			RecordedFrom: timestamppb.New(from), RecordedBefore: timestamppb.New(before), TenantId: tenant,
		}
		for {
			page, err := NewFeedEvents(f.store).ListFeedEvents(t.Context(), req)
			require.NoError(t, err)
			for _, c := range page.GetChanges() {
				ids = append(ids, c.GetEventId())
			}
			if page.NextPageToken == nil {
				return ids
			}
			req.PageToken = page.NextPageToken
		}
	}
	want := func(from, before time.Time, tenant string) (ids []string) {
		for _, c := range all {
			at := c.GetRecordedAt().AsTime()
			if !at.Before(from) && at.Before(before) && (tenant == "" || c.GetTenantId() == tenant) {
				ids = append(ids, c.GetEventId())
			}
		}
		return ids
	}
	from, before := today.Add(100*time.Minute), today.AddDate(0, 0, 2).Add(20*time.Minute)
	require.ElementsMatch(t, want(from, before, ""), list(from, before, nil))
	require.Equal(t, want(from, before, other), list(from, before, &other), "in the order of the feed")
	require.Empty(t, list(from.AddDate(1, 0, 0), before.AddDate(1, 0, 0), nil))

	page, err := NewFeedEvents(f.store).ListFeedEvents(t.Context(), &eventsv1.ListFeedEventsRequest{
		RecordedFrom: timestamppb.New(from), RecordedBefore: timestamppb.New(before), TenantId: &other,
	})
	require.NoError(t, err)
	require.True(t, proto.Equal(all[firstSince(all, from, other)], page.GetChanges()[0]), "with all of its fields")

	_, err = NewFeedEvents(f.store).ListFeedEvents(t.Context(), &eventsv1.ListFeedEventsRequest{PageToken: proto.String("x")})
	require.Len(t, violations(t, err), 3)
}

// firstSince returns the index of the first change of a tenant that was recorded at a time or later.
func firstSince(all []*eventsv1.Change, from time.Time, tenant string) int {
	for i, c := range all {
		if c.GetTenantId() == tenant && !c.GetRecordedAt().AsTime().Before(from) {
			return i
		}
	}
	return -1
}
