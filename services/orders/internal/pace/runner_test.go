package pace_test

import (
	"context"
	"errors"
	"log/slog"
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

	taken   []string
	fail    map[string]bool
	changed int
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
	_, err := f.pool.Exec(t.Context(), `INSERT INTO sandbox_paces (tenant_id, order_id, every_seconds, stop_at, due_at)
VALUES ($1, $1, 3600, 'SENT', clock_timestamp() + $2::interval)`, id, after)
	require.NoError(t, err)
	return id
}

func (f *fixture) advance(ctx context.Context, due store.Due) error {
	f.taken = append(f.taken, due.OrderID)
	if f.fail[due.OrderID] {
		return errBroken
	}
	return f.store.EndAutoAdvance(ctx, due)
}

var errBroken = errors.New("broken")

func (f *fixture) runner() *pace.Runner {
	return &pace.Runner{Store: f.store, Advance: f.advance, Changed: func() { f.changed++ }, Log: slog.New(slog.DiscardHandler)}
}

// run takes the steps that are due.
func (f *fixture) run(t *testing.T) (wait time.Duration, found bool) {
	t.Helper()
	wait, found, err := f.runner().Run(t.Context())
	require.NoError(t, err)
	return wait, found
}

func TestARunnerTakesTheStepsThatARestartLeft(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second := f.add(t, -time.Hour), f.add(t, -time.Minute)
	f.add(t, 30*time.Minute)
	wait, found := f.run(t)
	require.Equal(t, []string{first, second}, f.taken)
	require.Equal(t, 1, f.changed)
	require.True(t, found)
	require.InDelta(t, 30, wait.Minutes(), 1)
}

// A step that fails is tried again after its interval, and delays no other order.
func TestAStepThatFailsIsPostponed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	broken, good := f.add(t, -time.Hour), f.add(t, -time.Minute)
	f.fail[broken] = true
	wait, found := f.run(t)
	require.Equal(t, []string{broken, good}, f.taken)
	require.True(t, found)
	require.InDelta(t, 60, wait.Minutes(), 1)
}

func TestARunnerWithoutOrdersHasNothingToWaitFor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, found := f.run(t)
	require.False(t, found)
	require.Zero(t, f.changed)
	_, err := f.pool.Exec(t.Context(), "DROP TABLE sandbox_paces")
	require.NoError(t, err)
	_, _, err = f.runner().Run(t.Context())
	require.Error(t, err, "the loop tries again later")
}
