package relay

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	waitLimit    = 20 * time.Second
	pollInterval = 5 * time.Millisecond
)

// recorder is a publisher that keeps the messages.
type recorder struct {
	lock     sync.Mutex
	messages []kafka.Message
	// fail returns how many of n messages are written before an error. A nil function or a negative result means no error.
	fail func(n int) int
	// stored is the offset up to which the readers have stored the messages; negative: all.
	stored int64
	// latest is the latest time that a message may have; zero: any.
	latest time.Time
}

var errPublish = errors.New("broker does not answer")

func (r *recorder) Publish(_ context.Context, msgs []kafka.Message) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.fail != nil {
		if n := r.fail(len(msgs)); n >= 0 {
			r.messages = append(r.messages, msgs[:n]...)
			return errPublish
		}
	}
	if !r.latest.IsZero() && msgs[0].Time.After(r.latest) {
		return kafka.ErrTime
	}
	for i := range msgs {
		msgs[i].Offset = int64(len(r.messages))
		r.messages = append(r.messages, msgs[i])
	}
	return nil
}

func (r *recorder) Message(_ context.Context, _ int, offset int64) (kafka.Message, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if offset >= int64(len(r.messages)) {
		return kafka.Message{}, kafka.ErrNoMessage
	}
	return r.messages[offset], nil
}

// next is the Reader of the recorder.
func (r *recorder) next(context.Context) (map[int]int64, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.stored < 0 {
		return map[int]int64{0: int64(len(r.messages))}, nil
	}
	return map[int]int64{0: r.stored}, nil
}

// lose drops the messages from an offset on.
func (r *recorder) lose(from int64) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.messages = r.messages[:from]
}

func (r *recorder) changes(t *testing.T) []*eventsv1.Change {
	t.Helper()
	r.lock.Lock()
	defer r.lock.Unlock()
	out := make([]*eventsv1.Change, len(r.messages))
	for i, m := range r.messages {
		out[i] = &eventsv1.Change{}
		require.NoError(t, proto.Unmarshal(m.Value, out[i]))
		require.Equal(t, out[i].GetTenantId(), string(m.Key))
	}
	return out
}

// subjects returns the subject of each published message, in order.
func (r *recorder) subjects(t *testing.T) []string {
	t.Helper()
	return postgres.Column(r.changes(t), (*eventsv1.Change).GetSubjectId)
}

type fixture struct {
	*Relay
	published *recorder
	// owners are the databases of the sources, opened with the role of their services.
	owners []*pgxpool.Pool
}

// setup makes a relay of two sources, which it opens with the relay's role. Zero values of cfg are replaced with usable ones.
func setup(t *testing.T, cfg Config, tel *telemetry.Telemetry) *fixture {
	t.Helper()
	f := &fixture{published: &recorder{stored: -1}}
	cfg.LeaderURL = pgtest.NewURL(t)
	cfg.PollInterval = cmp.Or(cfg.PollInterval, 25*time.Millisecond)
	cfg.ConfirmInterval = cmp.Or(cfg.ConfirmInterval, 5*time.Millisecond)
	cfg.BatchSize = cmp.Or(cfg.BatchSize, 500)
	if cfg.BatchInterval == nil {
		cfg.BatchInterval = outbox.PollDelay
	}
	for _, name := range []string{"orders", "links"} {
		owner := pgtest.NewURL(t, outbox.Migrations(), daemon.RetentionClockMigrations())
		pool, err := postgres.Open(t.Context(), postgres.Config{URL: owner, MaxConns: 8})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		f.owners = append(f.owners, pool)
		cfg.Sources = append(cfg.Sources, Source{Name: name, URL: asRelay(t, owner)})
	}
	relay, err := New(t.Context(), Deps{Publisher: f.published, Readers: []Reader{f.published.next}, Telemetry: tel}, cfg)
	require.NoError(t, err)
	t.Cleanup(relay.Close)
	f.Relay = relay
	return f
}

func asRelay(t *testing.T, owner string) string {
	t.Helper()
	u, err := url.Parse(owner)
	require.NoError(t, err)
	q := u.Query()
	q.Set("role", "gifting_relay")
	u.RawQuery = q.Encode()
	return u.String()
}

// readTracer calls before and after around each read of a source's outbox.
type readTracer struct{ before, after func() }

type readKey struct{}

func (r readTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	if query.SQL != readRows {
		return ctx
	}
	r.before()
	return context.WithValue(ctx, readKey{}, true)
}

func (r readTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(readKey{}) != nil {
		r.after()
	}
}

func (f *fixture) traceReads(t *testing.T, source int, tracer readTracer) {
	t.Helper()
	s := f.sources[source]
	cfg := s.pool.Config()
	cfg.ConnConfig.Tracer = tracer
	s.pool.Close()
	var err error
	s.pool, err = pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
}

// start runs the relay until the test ends.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	testenv.Run(t, f.Run)
}

func event(subject string) outbox.Event {
	return outbox.Event{
		ID: uuid.NewString(), Type: "order.created", TenantID: uuid.NewString(), BrandID: uuid.NewString(),
		SubjectID: subject, OriginKeyID: 3, OccurredAt: time.Now().UTC().Truncate(time.Microsecond), Data: []byte(`{}`),
	}
}

// addEvent commits one event in a source and returns its subject.
func (f *fixture) addEvent(t *testing.T, source int) string {
	t.Helper()
	subject := uuid.NewString()
	require.NoError(t, postgres.Pipeline(t.Context(), f.owners[source], func(b *pgx.Batch) {
		outbox.Append(t.Context(), b, event(subject))
	}))
	return subject
}

// publish publishes a batch, confirms what the readers have stored and returns the number of published rows.
func (f *fixture) publish(t *testing.T) int {
	t.Helper()
	done, err := f.publishBatch(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.confirm(t.Context()))
	return done.published
}

// rowsLeft returns how many rows the outboxes hold.
func (f *fixture) rowsLeft(t *testing.T) (n int) {
	t.Helper()
	for _, owner := range f.owners {
		n += pgtest.Value[int](t, owner, "SELECT count(*) FROM outbox")
	}
	return n
}
