package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// addSealed appends events with messages sealed under the keys of these ids, and returns the ids and data of the events.
func (f *fixture) addSealed(t *testing.T, keys ...string) (added, data []string) {
	t.Helper()
	added = f.addEvents(t, today, len(keys), func(i int, c *eventsv1.Change) {
		ref := seal.EventRef{TenantID: f.tenant, EventID: c.GetEventId()}
		sealed, plain := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys(keys[i])), ref, "Happy birthday")
		c.Type, c.Data = "order.message_posted", sealed
		data = append(data, string(plain))
	})
	return added, data
}

func TestSealedEventsAreOpenedWhenTheyAreRead(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.Server = New(f.store, sealtest.Reader(t, sealtest.Keys("a", "b")), apikey.Sandbox)
	added, data := f.addSealed(t, "a", "b")
	page := f.list(f.keyContext(t, nil), t, nil, 0)
	require.Equal(t, added, ids(page))
	for i, event := range page.GetItems() {
		require.Equal(t, data[i], string(event.GetData()))
	}
	var stored string
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT string_agg(convert_from(data, 'UTF8'), '') FROM feed").Scan(&stored))
	require.NotContains(t, stored, "Happy birthday")
}

func TestNoEventThatCannotBeOpenedIsSkipped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	added, _ := f.addSealed(t, "a", "a", "b", "a")
	f.Server = New(f.store, sealtest.Reader(t, sealtest.Keys("a")), apikey.Sandbox)

	ctx, end := withEnd(f.keyContext(t, nil))
	page := f.list(ctx, t, nil, 0)
	require.Equal(t, added[:2], ids(page), "the page ends before the event")
	require.False(t, end())
	_, err := f.ListEvents(f.keyContext(t, nil), &eventsv1.ListEventsRequest{After: page.NextCursor})
	require.True(t, problem.Is(err, problem.ServiceUnavailable), err)

	f.Server = New(f.store, sealtest.Reader(t, sealtest.Keys("a", "b")), apikey.Sandbox)
	ctx, end = withEnd(f.keyContext(t, nil))
	require.Equal(t, added[2:], ids(f.list(ctx, t, page.NextCursor, 0)))
	require.True(t, end())
}
