package rules_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

const justBelowOne = 1 - 1e-9

func TestRetriesFollowTheTable(t *testing.T) {
	t.Parallel()
	table := []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
	for i, want := range table {
		shortest, ok := rules.RetryDelay(i+1, 0)
		require.True(t, ok)
		require.Equal(t, want, shortest)

		longest, ok := rules.RetryDelay(i+1, justBelowOne)
		require.True(t, ok)
		require.Greater(t, longest, want)
		require.LessOrEqual(t, longest, want+want/10)
	}
	for _, attempts := range []int{-1, 0, 8, 9} {
		_, ok := rules.RetryDelay(attempts, 0)
		require.False(t, ok, "after %d attempts", attempts)
	}
}

func TestAnOutcomeDecidesTheNextState(t *testing.T) {
	t.Parallel()
	ours := rules.Outcome{Problem: "x", Internal: true}
	delivered, failed := rules.Verdict{State: rules.Delivered, Counted: true}, rules.Verdict{State: rules.Failed, Counted: true}
	again := func(wait time.Duration) rules.Verdict {
		return rules.Verdict{State: rules.Pending, Counted: true, Wait: wait}
	}
	for name, c := range map[string]struct {
		outcome  rules.Outcome
		attempts int
		age      time.Duration
		want     rules.Verdict
	}{
		"2xx is delivered":                     {rules.Answered(204), 0, time.Hour, delivered},
		"2xx is delivered the last time":       {rules.Answered(200), 7, time.Hour, delivered},
		"another status is tried again":        {rules.Answered(500), 0, time.Hour, again(time.Minute)},
		"the seventh waits twelve hours":       {rules.Answered(500), 6, time.Hour, again(12 * time.Hour)},
		"the eighth failure is the last":       {rules.Answered(500), 7, time.Hour, failed},
		"a failure on our side does not count": {ours, 7, time.Hour, rules.Verdict{State: rules.Pending, Wait: 30 * time.Second}},
		"but not forever":                      {ours, 3, 72 * time.Hour, again(time.Hour)},
		"and then it ends like any other":      {ours, 7, 72 * time.Hour, failed},
	} {
		t.Run(name, func(t *testing.T) {
			p := rules.Progress{Attempts: c.attempts, Age: c.age}
			require.Equal(t, c.want, rules.Judge(c.outcome, p, 0))
		})
	}
}

func TestFirstEventAtBoundsTheEventsOfAMillisecond(t *testing.T) {
	t.Parallel()
	for range 100 {
		before := time.Now()
		id := uuid.Must(uuid.NewV7()).String()
		after := time.Now()
		require.LessOrEqual(t, rules.FirstEventAt(before), id)
		require.Less(t, id, rules.FirstEventAt(after.Add(time.Millisecond)))
	}
	require.Equal(t, "00000000-0000-0000-0000-000000000000", rules.FirstEventAt(time.UnixMilli(0)))
}

func TestEventAtIsTheTimeInAnID(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	at := rules.EventAt(uuid.Must(uuid.NewV7()).String())
	require.False(t, at.Before(before))
	require.False(t, at.After(time.Now()))
	require.Zero(t, rules.EventAt(uuid.NewString()), "an id without a time")
	require.Zero(t, rules.EventAt("no id"))
}

func TestEventAfterIsTheNextID(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0190aaaa-0000-7000-8000-000000000100", rules.EventAfter("0190aaaa-0000-7000-8000-0000000000ff"))
	require.Equal(t, "0190aaaa-0000-7000-8000-000000000002", rules.EventAfter("0190aaaa-0000-7000-8000-000000000001"))
}
