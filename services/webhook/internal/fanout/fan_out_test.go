package fanout

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenant = "0190aaaa-0000-7000-8000-000000000001"
	brand  = "0190cccc-0000-7000-8000-000000000001"
)

type fixture struct {
	t         *testing.T
	pool      *pgxpool.Pool
	directory *tenantstest.Directory
	fan       *FanOut
	// versions are none, unless a test publishes them.
	versions *tenants.VersionReader
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, pool: pgtest.New(t, store.Migrations()), directory: tenantstest.NewDirectory(t), versions: &tenants.VersionReader{},
	}
	webhooktest.RequireConsistentRows(t, f.pool)
	offsets := store.Offsets{Store: store.New(f.pool)}
	for partition := range 16 {
		_, err := offsets.Stored(t.Context(), partition, 0)
		require.NoError(t, err)
	}
	f.fan = f.instance()
	return f
}

// instance makes a fan-out whose sender does not run.
func (f *fixture) instance() *FanOut {
	f.t.Helper()
	var cfg sender.Config
	require.NoError(f.t, settings.Defaults(&cfg))
	client := webhookclient.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now)
	s, err := sender.New(sender.Deps{
		Store: store.New(f.pool), Directory: f.directory.Client, Client: client, Now: time.Now, Telemetry: telemetry.Discard(),
	}, cfg)
	require.NoError(f.t, err)
	fan, err := New(Deps{
		Store: store.New(f.pool), Directory: f.directory.Client, Versions: f.versions, Sender: s, Telemetry: telemetry.Discard(),
	}, Config{Topic: "changes", Environment: "sandbox", Cell: identity.Cell{Letter: "b"}})
	require.NoError(f.t, err)
	return fan
}

func (f *fixture) subscribe(key int32, brands []string, scopes ...commonv1.Scope) {
	f.directory.Subscribe(tenant, &tenantsv1.EndpointSubscription{
		KeyId: key, Scopes: scopes, AllBrands: brands == nil, BrandIds: brands,
	})
}

func newChange(typ string, origin int32) *eventsv1.Change {
	return &eventsv1.Change{
		EventId: uuid.Must(uuid.NewV7()).String(), Type: typ, TenantId: tenant, BrandId: brand,
		SubjectId: uuid.NewString(), OriginKeyId: origin,
		OccurredAt: timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)),
		Data:       []byte(`{"id":"x","version":2}`),
	}
}

func messages(t *testing.T, changes ...*eventsv1.Change) []kafka.Message {
	t.Helper()
	list := make([]kafka.Message, 0, len(changes))
	for i, c := range changes {
		value, err := proto.Marshal(c)
		require.NoError(t, err)
		list = append(list, kafka.Message{Key: []byte(c.GetTenantId()), Value: value, Offset: int64(i)})
	}
	return list
}

// deliveries returns the keys that each event goes to.
func (f *fixture) deliveries() map[string][]int32 {
	rows, err := f.pool.Query(f.t.Context(),
		"SELECT event_id, key_id FROM deliveries WHERE state = 'PENDING' ORDER BY event_id, key_id")
	require.NoError(f.t, err)
	got := map[string][]int32{}
	var id string
	var key int32
	_, err = pgx.ForEachRow(rows, []any{&id, &key}, func() error {
		got[id] = append(got[id], key)
		return nil
	})
	require.NoError(f.t, err)
	return got
}

func TestAChangeIsQueuedForTheKeysThatReceiveIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const orders, links = commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS
	f.subscribe(1, nil, orders, links)
	f.subscribe(2, []string{brand}, orders)
	f.directory.Subscribe("0190bbbb-0000-7000-8000-000000000002", &tenantsv1.EndpointSubscription{
		KeyId: 6, AllBrands: true, Scopes: []commonv1.Scope{orders, links},
	})
	byKey, byNobody, link := newChange("order.created", 1), newChange("order.updated", 0), newChange("personal_link.claimed", 3)
	unseen := newChange("order.created", 0)
	unseen.TenantId = uuid.NewString()

	require.NoError(t, f.fan.Handle(t.Context(), 0, messages(t, byKey, byNobody, link, unseen)))
	require.Equal(t, map[string][]int32{
		byKey.GetEventId():    {2},
		byNobody.GetEventId(): {1, 2},
		link.GetEventId():     {1},
	}, f.deliveries())
	known := pgtest.Value[int](t, f.pool, "SELECT count(*) FROM events WHERE brand_id = $1 AND subject_id = ANY ($2::uuid[])",
		brand, []string{byKey.GetSubjectId(), byNobody.GetSubjectId(), link.GetSubjectId()})
	require.Equal(t, 3, known)
}

func TestAChangeThatIsDeliveredAgainHasNoEffect(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	c := newChange("order.created", 0)
	twice := messages(t, c, c)
	require.NoError(t, f.fan.Handle(t.Context(), 0, twice))
	want := map[string][]int32{c.GetEventId(): {1}}
	require.Equal(t, want, f.deliveries())

	f.subscribe(2, nil, commonv1.Scope_SCOPE_ORDERS)
	require.NoError(t, f.fan.Handle(t.Context(), 0, twice))
	require.Equal(t, want, f.deliveries(), "an endpoint set after the change does not get it")

	pgtest.Exec(t, f.pool, "UPDATE deliveries SET state = 'DELIVERED', next_attempt_at = NULL, finished_at = now()")
	require.NoError(t, f.fan.Handle(t.Context(), 0, twice))
	require.Empty(t, f.deliveries(), "a delivered event is not queued again")
}

func TestAMessageThatIsNotAChangeIsStoredSeparately(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	invalid := func(set func(c *eventsv1.Change)) *eventsv1.Change {
		c := newChange("order.created", 0)
		set(c)
		return c
	}
	good := newChange("order.created", 0)
	batch := messages(t,
		invalid(func(c *eventsv1.Change) { c.EventId = "7" }),
		invalid(func(c *eventsv1.Change) { c.BrandId = "{" + brand + "}" }),
		invalid(func(c *eventsv1.Change) { c.Type = "order.\x00" }),
		invalid(func(c *eventsv1.Change) { c.OccurredAt = &timestamppb.Timestamp{Seconds: 1 << 60} }),
		invalid(func(c *eventsv1.Change) { c.Data = []byte("{") }),
		invalid(func(c *eventsv1.Change) { c.Data = []byte("\"\xff\"") }),
		good,
	)
	batch = append(batch, kafka.Message{Value: []byte("\xffnonsense"), Offset: 7}, kafka.Message{Offset: 8})

	require.NoError(t, f.fan.Handle(t.Context(), 3, batch))
	require.NoError(t, f.fan.Handle(t.Context(), 3, batch), "repeated, as after a crash before the commit of the offset")
	require.Equal(t, map[string][]int32{good.GetEventId(): {1}}, f.deliveries())
	stored := pgtest.Value[int](t, f.pool,
		`SELECT count(*) FROM rejected_messages WHERE topic = 'changes' AND partition = 3 AND reason <> ''`)
	require.Equal(t, len(batch)-1, stored)
	require.Zero(t, pgtest.Value[int](t, f.pool, `SELECT sum(length(value)) FROM rejected_messages`), "the messages are only in Kafka")

	last := messages(t, invalid(func(c *eventsv1.Change) { c.EventId = "\x00" }))
	last[0].Offset = int64(len(batch))
	require.NoError(t, f.fan.Handle(t.Context(), 3, last), "the last id is no text for PostgreSQL")
}

func TestNothingIsStoredWhileTheTenantsServiceIsDown(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	c := newChange("order.created", 0)
	f.directory.Fail(problem.Unavailable())
	err := f.fan.Handle(t.Context(), 0, messages(t, c))
	require.Error(t, err)
	require.Empty(t, f.deliveries())

	f.directory.Fail(nil)
	require.NoError(t, f.fan.Handle(t.Context(), 0, messages(t, c)))
	require.Len(t, f.deliveries(), 1)
}

func TestAnEventKeepsItsTraceIfTheTraceIsRecorded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	const recorded = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	msgs := messages(t, newChange("order.created", 0), newChange("order.created", 0), newChange("order.created", 0))
	msgs[0] = kafka.WithTraceParent(msgs[0], recorded)
	msgs[1] = kafka.WithTraceParent(msgs[1], "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
	require.NoError(t, f.fan.Handle(t.Context(), 0, msgs))
	rows, err := f.pool.Query(t.Context(), "SELECT traceparent FROM events ORDER BY event_id")
	require.NoError(t, err)
	traces, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{recorded, "", ""}, traces)
}
