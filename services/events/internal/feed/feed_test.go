package feed

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
	"github.com/partnergifting/platform/services/events/internal/store"
)

const retention = 30 * 24 * time.Hour

var start = time.Date(2026, 3, 10, 23, 59, 0, 0, time.UTC)

type fixture struct {
	*Writer
	pool  *pgxpool.Pool
	store *store.Store
	hub   notices.Hub
	// clock is the store's.
	clock  time.Time
	tenant string
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{clock: start, tenant: uuid.NewString(), pool: pgtest.New(t, store.Migrations())}
	f.store = store.NewAt(f.pool, func() time.Time { return f.clock })
	for _, partition := range []int{0, 4} {
		require.NoError(t, store.Offsets{Store: f.store}.Move(t.Context(), partition, -1, 0))
	}
	var err error
	f.Writer, err = NewWriter(f.store, notices.NewAnnouncer(&f.hub, f.pool, telemetry.Discard().Logger),
		func() time.Duration { return retention }, telemetry.Discard())
	require.NoError(t, err)
	return f
}

func (f *fixture) maintain(t *testing.T) {
	t.Helper()
	require.NoError(t, maintain(t.Context(), f.store, retention, f.log))
}

func (f *fixture) message(t *testing.T, offset int64) (kafka.Message, *eventsv1.Change) {
	t.Helper()
	c := &eventsv1.Change{
		EventId: uuid.NewString(), Type: "order.created", TenantId: f.tenant, BrandId: uuid.NewString(),
		SubjectId: uuid.NewString(), OriginKeyId: 5, OccurredAt: timestamppb.New(f.clock.Add(-time.Second)),
		RecordedAt: timestamppb.New(f.clock), Data: []byte(`{"a":1}`),
	}
	value, err := proto.Marshal(c)
	require.NoError(t, err)
	return kafka.Message{Key: []byte(f.tenant), Value: value, Offset: offset}, c
}

func (f *fixture) rows(t *testing.T) []store.Row {
	t.Helper()
	rows, _, err := f.store.Scan(t.Context(), f.tenant, store.Position{},
		store.Filter{Orders: true, AllBrands: true, KeyID: 1}, 1000)
	require.NoError(t, err)
	return rows
}

func TestWriter(t *testing.T) {
	t.Parallel()
	t.Run("a message that cannot be decoded stops its partition, and skipping it skips nothing else", func(t *testing.T) {
		f := setup(t)
		before, first := f.message(t, 0)
		before.Time = start
		after, last := f.message(t, 2)
		_, c := f.message(t, 1)
		c.BrandId = ""
		noBrand, err := proto.Marshal(c)
		require.NoError(t, err)
		for _, value := range [][]byte{[]byte("\xff no protobuf"), noBrand} {
			bad := kafka.Message{Key: []byte(f.tenant), Value: value, Offset: 1, Time: start.Add(time.Second)}
			require.ErrorContains(t, f.Handle(t.Context(), 0, []kafka.Message{before, bad, after}), "offset 1")
			require.ErrorContains(t, f.Handle(t.Context(), 0, []kafka.Message{bad, after}), "offset 1")
		}
		offsets := store.Offsets{Store: f.store}
		stored, err := offsets.Stored(t.Context(), 0, -1)
		require.NoError(t, err)
		stored.LastTime = stored.LastTime.UTC()
		require.Equal(t, kafka.Stored{Next: 1, LastID: first.GetEventId(), LastTime: start}, stored)
		require.NoError(t, offsets.Move(t.Context(), 0, 1, 2))
		require.NoError(t, f.Handle(t.Context(), 0, []kafka.Message{after}))
		ids := postgres.Column(f.rows(t), func(r store.Row) string { return r.ID })
		require.Equal(t, []string{first.GetEventId(), last.GetEventId()}, ids)
	})

	t.Run("a change that is read late is not too old because the database's clock jumped ahead", func(t *testing.T) {
		f := setup(t)
		late, _ := f.message(t, 0)
		other, _ := f.message(t, 0) // The late one was lost, and Kafka has this at its offset.
		require.NoError(t, f.Handle(t.Context(), 0, []kafka.Message{other}))
		f.clock = f.clock.Add(2 * retention)
		f.retention = func() time.Duration { return 3 * retention }
		require.NoError(t, f.Handle(t.Context(), 0, []kafka.Message{late}))
		require.Len(t, f.rows(t), 2)
	})
}

func TestANewWriterOfAPartitionWakesReadersOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	m, _ := f.message(t, 0)
	committed, err := decode(m)
	require.NoError(t, err)
	_, err = f.store.Append(t.Context(), store.Batch{Partition: 4, Changes: []store.Change{committed}, Retention: retention})
	require.NoError(t, err) // The former writer crashed before it announced the event.
	reader := f.hub.Subscribe(f.tenant)
	defer reader.Close()
	require.Empty(t, reader.Due())
	offsets := Offsets{Offsets: store.Offsets{Store: f.store}, Announcer: f.announcer}
	_, err = offsets.Stored(t.Context(), 4, 0)
	require.NoError(t, err)
	<-reader.Due()
	found, missed := reader.Drain()
	require.True(t, missed)
	require.Empty(t, found)
	require.Len(t, f.rows(t), 1)
	_, err = offsets.Stored(t.Context(), 4, 1)
	require.NoError(t, err)
	require.Empty(t, reader.Due(), "nothing new")
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.maintain(t)
	m, _ := f.message(t, 0)
	require.NoError(t, f.Handle(t.Context(), 0, []kafka.Message{m}))

	f.clock = start.Add(retention)
	f.maintain(t)
	require.Len(t, f.rows(t), 1, "a day is kept for the whole retention")

	f.clock = start.Add(retention + 2*time.Minute)
	f.maintain(t)
	require.Empty(t, f.rows(t))
	ends, err := f.store.Bounds(t.Context(), f.tenant, 0)
	require.NoError(t, err)
	require.Equal(t, ends.Last, ends.Dropped)
	f.maintain(t)
}

func TestOldDaysAreDroppedWhileNoDayCanBeCreated(t *testing.T) {
	t.Parallel()
	f := setup(t)
	m, _ := f.message(t, 0)
	require.NoError(t, f.Handle(t.Context(), 0, []kafka.Message{m}))
	f.clock = start.Add(retention + 24*time.Hour)
	// Like a full disk, this lets tables be dropped and not created.
	pgtest.Exec(t, f.pool, `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION USING MESSAGE = 'no space', ERRCODE = 'disk_full'; END $$;
CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()`)
	require.ErrorContains(t, maintain(t.Context(), f.store, retention, f.log), "no space")
	require.Empty(t, f.rows(t))
}
