package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// resends are the ways to send a finished delivery again.
var resends = map[string]func(t *testing.T, f *fixture, event string){
	"one": func(t *testing.T, f *fixture, event string) {
		t.Helper()
		require.NoError(t, f.Resend(t.Context(), own, event))
	},
	"a span": func(t *testing.T, f *fixture, event string) {
		t.Helper()
		span := Span{From: event, Before: rules.EventAfter(event), States: []rules.State{rules.Failed, rules.Delivered}}
		resent, err := f.ResendSpan(t.Context(), own, span, 10)
		require.NoError(t, err)
		require.Equal(t, []string{event}, resent)
	},
	"one by its key": func(t *testing.T, f *fixture, event string) {
		t.Helper()
		resend := f.NewResend(own, Visibility{}, event)
		require.NoError(t, postgres.Pipeline(t.Context(), f.pool, func(b *pgx.Batch) { resend.QueueRead(b); resend.QueueUpdate(b) }))
		require.True(t, resend.Needed)
	},
	"a replay": func(t *testing.T, f *fixture, event string) {
		t.Helper()
		replay := f.NewReplay(own, Span{From: event, Before: rules.EventAfter(event)}, Visibility{})
		require.NoError(t, postgres.Pipeline(t.Context(), f.pool, replay.QueueRead))
		require.Equal(t, 1, replay.Deliveries)
		require.NoError(t, postgres.Pipeline(t.Context(), f.pool, replay.QueueUpdate))
	},
}

// attempt records the result of an attempt at what is due, one second after the last one.
func (f *fixture) attempt(t *testing.T, v rules.Verdict, status int) {
	t.Helper()
	due := f.claim(t, f.now.Add(time.Second), 10, 10)
	require.Len(t, due, 1)
	require.NoError(t, f.record(t, due[0], v, status))
}

// numbers are those of the logged attempts at a delivery.
func (f *fixture) numbers(t *testing.T, event string) (numbers []int32) {
	t.Helper()
	_, _, attempts, err := f.Get(t.Context(), own, event)
	require.NoError(t, err)
	for _, a := range attempts {
		numbers = append(numbers, a.Number)
	}
	return numbers
}

func TestTheLogOfADeliveryThatIsResentAgainAndAgainIsBounded(t *testing.T) {
	t.Parallel()
	for name, resend := range resends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			other := f.addEvent(t, tenantA, noon, 2)
			f.deliverDue(t, noon)
			event := f.addEvent(t, tenantA, noon, 1)
			f.attempt(t, failed, 500)
			for range 3 * KeptAttempts {
				resend(t, f, event)
				f.attempt(t, failed, 500)
			}
			// The first one shows since when the endpoint fails.
			require.Equal(t, []int32{1, 17, 18, 19, 20, 21, 22, 23, 24, 25}, f.numbers(t, event))
			_, _, attempts, err := f.Get(t.Context(), Endpoint{TenantID: tenantA, KeyID: 2}, other)
			require.NoError(t, err)
			require.Len(t, attempts, 1)
		})
	}
}

// Or the first failure on our side would use up an attempt of it.
func TestAResentDeliveryIsAsYoungAsANewOne(t *testing.T) {
	t.Parallel()
	for name, resend := range resends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			event := f.addEvent(t, tenantA, noon, 1)
			f.attempt(t, failed, 500)
			f.now = noon.Add(20 * 24 * time.Hour)
			resend(t, f, event)
			due := f.claim(t, f.now.Add(time.Second), 10, 10)
			require.Len(t, due, 1)
			require.Equal(t, time.Second, due[0].Age)
		})
	}
}

// An erasure locks finished deliveries too.
func TestADeliveryThatIsLockedIsResentAfterwards(t *testing.T) {
	t.Parallel()
	for name, resend := range resends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			event := f.addEvent(t, tenantA, noon, 1)
			f.attempt(t, failed, 500)
			tx, err := f.pool.Begin(t.Context())
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), waitForResends, tenantA, postgres.UUIDs{event}, nil)
			require.NoError(t, err)
			unlocked := make(chan error, 1)
			go func() {
				const waiting = `SELECT EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
				for waits := false; !waits && err == nil; {
					err = f.pool.QueryRow(t.Context(), waiting).Scan(&waits)
				}
				unlocked <- errors.Join(err, tx.Commit(context.WithoutCancel(t.Context())))
			}()
			resend(t, f, event)
			require.NoError(t, <-unlocked)
			require.Len(t, f.claim(t, f.now.Add(time.Second), 10, 10), 1)
		})
	}
}

func TestADeliveryIsResentHoweverManyAttemptsItHad(t *testing.T) {
	t.Parallel()
	for name, resend := range resends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			event := f.addEvent(t, tenantA, noon, 1)
			f.attempt(t, failed, 500)
			resend(t, f, event)
			pgtest.Exec(t, f.pool,
				"UPDATE deliveries SET attempts_before = $1::int - 3 WHERE tenant_id = $2 AND event_id = $3", maxNumber, tenantA, event)
			for range 2 {
				f.attempt(t, failed, 500)
				resend(t, f, event)
			}
			require.Equal(t, []int32{1, 29_998, 29_999}, f.numbers(t, event))
			f.attempt(t, failed, 500)
			resend(t, f, event)
			require.Equal(t, []int32{1}, f.numbers(t, event), "the log begins anew")
			for range 2 {
				f.attempt(t, failed, 500)
				resend(t, f, event)
			}
			require.Equal(t, []int32{1, 2, 3}, f.numbers(t, event))
		})
	}
}

// Health is read from the log. What is deleted from the log must not change it.
func TestAResendDoesNotChangeTheHealthOfTheEndpoint(t *testing.T) {
	t.Parallel()
	f := setup(t)
	events := []string{f.addEvent(t, tenantA, noon, 1)}
	f.attempt(t, failed, 500)
	events = append(events, f.addEvent(t, tenantA, f.now, 1))
	f.attempt(t, delivered, 200)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	health := func() (h KeyHealth) {
		h, err := f.KeyHealth(t.Context(), own)
		require.NoError(t, err)
		h.Pending, h.OldestPendingAt, h.Untried, h.UntriedBody = 0, nil, "", nil
		return h
	}
	for range 120 {
		event := events[random.IntN(len(events))]
		before := health()
		require.NoError(t, f.Resend(t.Context(), own, event))
		require.Equal(t, before, health(), "seed %d", seed)
		if random.IntN(15) == 0 {
			f.attempt(t, delivered, 200)
		} else {
			f.attempt(t, failed, 501+random.IntN(50))
		}
	}
	require.LessOrEqual(t, f.count(t, "attempts"), 2*(KeptAttempts+1)+3)
}
