package rules_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

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
