package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/problem"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

func keep30Days() time.Duration { return 30 * 24 * time.Hour }

func TestEventsOfOrdersAreListedInTheOrderOfTheFeed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	records := NewFeedRecords(f.store, nil, keep30Days, slog.New(slog.DiscardHandler))
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
	t.Run("with the tenants, and the time from which on retention drops nothing", func(t *testing.T) {
		page, err := records.ListFeedTenants(t.Context(), &eventsv1.ListFeedTenantsRequest{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, []string{f.tenant}, page.GetTenantIds())
		require.Equal(t, today.Truncate(24*time.Hour).AddDate(0, 0, 3-30+1), page.GetRetainedFrom().AsTime(), "not the feed's oldest day")
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
	records := NewFeedRecords(f.store, nil, keep30Days, slog.New(slog.DiscardHandler))
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

// log is a topic of one partition, which has the messages of these events.
type log struct {
	ids   []string
	first int64
	err   error
	// read is called when the ends are read.
	read func()
}

func (l *log) Spans(context.Context) ([]kafka.Span, error) {
	span := kafka.Span{From: l.first, To: int64(len(l.ids))}
	if l.read != nil {
		l.read()
	}
	return []kafka.Span{span}, l.err
}

func (l *log) Message(_ context.Context, _ int, offset int64) (kafka.Message, error) {
	if offset >= int64(len(l.ids)) {
		return kafka.Message{}, kafka.ErrNoMessage
	}
	value, err := proto.Marshal(&eventsv1.Change{EventId: l.ids[offset]})
	return kafka.Message{Value: value}, err
}

// recorded is a feed whose topic has the same events.
type recorded struct {
	*fixture
	*FeedRecords
	log *log
}

func setupRecorded(t *testing.T) recorded {
	t.Helper()
	f := setup(t)
	require.NoError(t, f.store.CheckPartitions(t.Context(), 1))
	l := &log{ids: f.addEvents(t, today, 3, nil)}
	return recorded{f, NewFeedRecords(f.store, l, keep30Days, slog.New(slog.DiscardHandler)), l}
}

func (r recorded) list(t *testing.T, after *eventsv1.FeedPosition) *eventsv1.ListOrderEventsResponse {
	t.Helper()
	// The call waits for half of it.
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	page, err := r.ListOrderEvents(ctx, &eventsv1.ListOrderEventsRequest{
		TenantId: r.tenant, Limit: 10, After: after, CheckComplete: true,
	})
	require.NoError(t, err)
	require.Equal(t, page.GetIncompleteReason() == "", page.GetComplete())
	return page
}

func TestAFeedIsCompleteWhenItHasStoredWhatKafkaHad(t *testing.T) {
	t.Parallel()
	r := setupRecorded(t)
	require.True(t, r.list(t, nil).GetComplete())
	t.Run("also if it stores that during the call", func(t *testing.T) {
		late := uuid.NewString()
		r.log.ids = append(r.log.ids, late)
		var stored sync.WaitGroup
		r.log.read = func() {
			r.log.read = nil
			stored.Go(func() { r.addEvents(t, today, 1, func(_ int, c *eventsv1.Change) { c.EventId = late }) })
		}
		page := r.list(t, nil)
		stored.Wait()
		require.Len(t, page.GetEvents(), 4)
		require.True(t, page.GetComplete())
	})
	t.Run("but not if Kafka has more", func(t *testing.T) {
		r.log.ids = append(r.log.ids, "an event that is never stored")
		page := r.list(t, nil)
		require.Len(t, page.GetEvents(), 4)
		require.True(t, page.GetEnd())
		require.Equal(t, "partition 0 is stored up to offset 4, and Kafka has 0 to 5", page.GetIncompleteReason())
	})
}

func TestAPageThatIsNotTheLastOneIsNotComplete(t *testing.T) {
	t.Parallel()
	r := setupRecorded(t)
	page, err := r.ListOrderEvents(t.Context(), &eventsv1.ListOrderEventsRequest{TenantId: r.tenant, Limit: 2, CheckComplete: true})
	require.NoError(t, err)
	require.False(t, page.GetComplete())
	require.False(t, page.GetEnd())
}

func TestEventsThatWereReadBeforeTheFeedWentBackAreNotComplete(t *testing.T) {
	t.Parallel()
	r := setupRecorded(t)
	before := r.list(t, nil)
	require.True(t, before.GetComplete())
	// The consumer had reached more than is stored. It begins an epoch and reads that again, under positions that may be lower than
	// those before.
	_, err := store.Offsets{Store: r.fixture.store}.Stored(t.Context(), 0, 100)
	require.NoError(t, err)
	r.log.ids = append(r.log.ids, r.addEvents(t, today, 1, nil)...)

	after := r.list(t, before.GetNext())
	require.Equal(t, wentBack, after.GetIncompleteReason())
	require.Equal(t, wentBack, r.list(t, after.GetNext()).GetIncompleteReason(), "also in the next page")
	require.True(t, r.list(t, nil).GetComplete(), "but a reading from the beginning is")
}

func TestAFeedIsNotCompleteWhenKafkaWentBack(t *testing.T) {
	t.Parallel()
	r := setupRecorded(t)
	stored := r.log.ids
	r.log.ids = stored[:2]
	require.Equal(t, "partition 0 is stored up to offset 3, and Kafka has 0 to 2", r.list(t, nil).GetIncompleteReason())
	r.log.ids = append(stored[:2:2], "another event")
	require.Equal(t, "partition 0 has another message at offset 2 than the one that is stored", r.list(t, nil).GetIncompleteReason())
	r.log.first = 3
	require.True(t, r.list(t, nil).GetComplete(), "a message past Kafka's retention is not compared")
	r.log.err = errors.New("Kafka is away")
	require.Contains(t, r.list(t, nil).GetIncompleteReason(), "cannot read Kafka")
}

func TestEveryPartitionIsStored(t *testing.T) {
	t.Parallel()
	spans := []kafka.Span{{Partition: 0, From: 5, To: 9}, {Partition: 1}}
	for want, stored := range map[string]map[int]kafka.Stored{
		"": {0: {Next: 9}, 1: {Next: 0}},
		"partition 0 is stored up to offset 8, and Kafka has 5 to 9":      {0: {Next: 8}, 1: {Next: 0}},
		"the topic has 2 partitions, and the feed has stored events of 1": {0: {Next: 9}},
		"the topic has 2 partitions, and the feed has stored events of 3": {0: {Next: 9}, 1: {}, 2: {}},
	} {
		require.Equal(t, want, completeness{spans: spans}.behind(stored))
	}
	deleted := completeness{spans: []kafka.Span{{From: 9, To: 9}}}
	require.NotEmpty(t, deleted.behind(map[int]kafka.Stored{0: {Next: 4}}), "the partition is blocked: its messages are gone")
}

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
