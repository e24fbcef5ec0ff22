package pace_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/orders/internal/pace"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// fixture is a database, and what a runner did.
type fixture struct {
	pool  *pgxpool.Pool
	store *store.Store

	mu    sync.Mutex
	taken []string
	fail  map[string]bool
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pgtest.New(t, outbox.Migrations(), idempotency.Migrations(), store.Migrations()), fail: map[string]bool{}}
	f.store = store.New(f.pool, nil, nil)
	return f
}

// add adds an order whose step is due after the time, and returns its id.
func (f *fixture) add(t *testing.T, after time.Duration) string {
	t.Helper()
	id := uuid.NewString()
	_, err := f.pool.Exec(t.Context(), `INSERT INTO sandbox_paces (order_id, tenant_id, every_seconds, stop_at, due_at)
VALUES ($1, $1, 3600, 'SENT', clock_timestamp() + $2::interval)`, id, after)
	require.NoError(t, err)
	return id
}

func (f *fixture) goOn(ctx context.Context, due store.Due) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = append(f.taken, due.OrderID)
	if f.fail[due.OrderID] {
		return errors.New("broken")
	}
	return f.store.EndPace(ctx, due.OrderID)
}

func (f *fixture) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.taken...)
}

func (f *fixture) runner() *pace.Runner {
	return pace.New(pace.Deps{Store: f.store, GoOn: f.goOn, Changed: func() {}, Log: slog.New(slog.DiscardHandler)})
}

// start runs a runner until the test ends.
func (f *fixture) start(t *testing.T) *pace.Runner {
	t.Helper()
	r := f.runner()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Part().Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return r
}

func (f *fixture) requireTaken(t *testing.T, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(f.took()) >= len(want) }, 10*time.Second, 5*time.Millisecond)
	require.ElementsMatch(t, want, f.took())
}

func TestARunnerTakesTheStepsThatARestartLeft(t *testing.T) {
	t.Parallel()
	f := setup(t)
	overdue, soon := f.add(t, -time.Minute), f.add(t, 50*time.Millisecond)
	f.add(t, 30*time.Minute)
	f.start(t)
	f.requireTaken(t, overdue, soon)
}

func TestARunnerIsWokenForAnEarlierStep(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := f.start(t)
	id := f.add(t, 20*time.Millisecond)
	r.Wake()
	f.requireTaken(t, id)
}

// A step that fails is tried again after its interval, and delays no other order.
func TestAStepThatFailsIsPostponed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	broken, good := f.add(t, -time.Hour), f.add(t, -time.Minute)
	f.fail[broken] = true
	f.start(t)
	f.requireTaken(t, broken, good)
	require.Eventually(t, func() bool {
		var postponed bool
		const later = `SELECT due_at > clock_timestamp() + interval '50 minutes' FROM sandbox_paces WHERE order_id = $1`
		require.NoError(t, f.pool.QueryRow(t.Context(), later, broken).Scan(&postponed))
		return postponed
	}, 10*time.Second, 5*time.Millisecond)
}

func TestAnIdleRunnerAsksOnceInAMinute(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := f.runner()
	wait, err := r.Tick(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Minute, wait)
	f.add(t, 2*time.Second)
	wait, err = r.Tick(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 2, wait.Seconds(), 1)
	require.Empty(t, f.took())
}
