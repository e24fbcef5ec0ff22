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

	"github.com/partnergifting/platform/pkg/kafka"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

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
	return recorded{f, NewFeedRecords(f.store, l, slog.New(slog.DiscardHandler)), l}
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
