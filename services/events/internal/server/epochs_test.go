package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// beginEpoch begins an epoch: the partition is said to have reached more than is stored, as after the database was set back.
func (f *fixture) beginEpoch(t *testing.T) {
	t.Helper()
	_, err := store.Offsets{Store: f.store}.Stored(t.Context(), 0, f.offset+1)
	require.NoError(t, err)
}

func (f *fixture) requireRefused(t *testing.T, p store.Position, why string) {
	t.Helper()
	cursor := encode(binding(f.tenant), p)
	_, err := f.ListEvents(f.keyContext(t, nil), &eventsv1.ListEventsRequest{After: &cursor})
	require.Equal(t, map[string]string{"after": restoredFeed}, violations(t, err), why)
}

func TestCursorsOfEpochs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := f.keyContext(t, nil)
	want := f.addEvents(t, today, 10, nil)
	afterFour := f.list(ctx, t, nil, 4).NextCursor
	afterAll := f.list(ctx, t, nil, 10).NextCursor
	lastPosition, err := decode(binding(f.tenant), *afterAll)
	require.NoError(t, err)

	f.beginEpoch(t)
	require.Equal(t, want[4:], ids(f.list(ctx, t, afterFour, 0)), "every cursor stays valid if no event was lost")
	require.Equal(t, *afterAll, f.list(ctx, t, afterAll, 0).GetNextCursor(), "a cursor that does not move keeps its epoch")
	lost := lastPosition
	lost.Number++
	f.requireRefused(t, lost, "a position that was lost and is not used again yet")

	more := f.addEvents(t, today, 3, nil)
	f.requireRefused(t, lost, "a position that belongs to another event now")
	page := f.list(ctx, t, afterAll, 0)
	require.Equal(t, more, ids(page))
	inSecondEpoch, err := decode(binding(f.tenant), page.GetNextCursor())
	require.NoError(t, err)
	require.NotEqual(t, lastPosition.Epoch, inSecondEpoch.Epoch)

	f.beginEpoch(t)
	require.Equal(t, want[4:], ids(f.list(ctx, t, afterFour, 0))[:6])
	f.requireRefused(t, lost, "it was lost in an earlier epoch")
	again := f.addEvents(t, today, 1, nil)
	require.Equal(t, again, ids(f.list(ctx, t, page.NextCursor, 0)), "a cursor of the second epoch")
	unknown := inSecondEpoch
	unknown.Epoch++
	f.requireRefused(t, unknown, "an epoch that is unknown, as after a restore to a state before it")
}

func TestACursorFromAServerWhoseClockWasAheadFindsWhatFollows(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvents(t, today, 3, nil)
	cursor, err := decode(binding(f.tenant), f.list(f.keyContext(t, nil), t, nil, 3).GetNextCursor())
	require.NoError(t, err)
	f.beginEpoch(t)
	more := f.addEvents(t, today, 2, nil)
	cursor.Day = cursor.Day.AddDate(0, 0, 1)
	text := encode(binding(f.tenant), cursor)
	require.Equal(t, more, ids(f.list(f.keyContext(t, nil), t, &text, 0)))
}
