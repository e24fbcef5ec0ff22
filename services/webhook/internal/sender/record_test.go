package sender

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestAResultTheDatabaseRefusesDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	st := store.New(pool)
	const deliveries = 4
	_, err := st.FanOut(t.Context(), 0, []store.Event{newEvent(1, 2, 3, 4)})
	require.NoError(t, err)
	claimed := claimDue(t, st, time.Minute)
	require.Len(t, claimed, deliveries)
	results := make([]store.Result, deliveries)
	for i, d := range claimed {
		results[i] = store.Result{
			Delivery: d, Verdict: rules.Verdict{State: rules.Failed, Counted: true},
			Attempt: store.Attempt{StartedAt: time.Now(), Outcome: rules.Answered(500)},
		}
	}
	results[2].Attempt.Outcome.Problem = "no text: \x00"
	results[3].Delivery.Token = uuid.NewString()

	// The first result waits for its row, and the others wait for the first, so the others are recorded together.
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	// If the test fails before its rollback, closing the pool would wait for this connection.
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), `SELECT FROM deliveries WHERE key_id = $1 FOR UPDATE`, results[0].Delivery.KeyID)
	require.NoError(t, err)
	r := newResults(st)
	lost := make([]bool, deliveries)
	done := make([]chan error, deliveries)
	for i, result := range results {
		done[i] = make(chan error, 1)
		go func() {
			p := &pendingResult{Result: result}
			err := r.Do(t.Context(), p)
			lost[i] = p.leaseLost
			done[i] <- err
		}()
		// Running is checked too: before the first result arrives, none waits either.
		require.Eventually(t, func() bool { return r.Running() == 1 && r.Waiting() == i }, waitLimit, pollInterval)
	}
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-done[0])
	require.NoError(t, <-done[1])
	require.Error(t, <-done[2])
	require.NoError(t, <-done[3])
	require.Equal(t, []bool{false, false, false, true}, lost)
}
