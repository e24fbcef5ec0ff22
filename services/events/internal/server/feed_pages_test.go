package server

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
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
	stored := pgtest.Value[string](t, f.pool, "SELECT string_agg(convert_from(data, 'UTF8'), '') FROM feed")
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

// readToWait reads the feed with a wait, and reports whether the caller should wait.
func (f *fixture) readToWait(ctx context.Context, t *testing.T, after *string, wait int32) (*eventsv1.ListEventsResponse, bool) {
	t.Helper()
	s := &headers{}
	resp, err := f.ListEvents(grpc.NewContextWithServerTransportStream(ctx, s), &eventsv1.ListEventsRequest{After: after, Wait: &wait})
	require.NoError(t, err)
	return resp, len(s.md.Get(caller.FeedWaitHeader)) > 0
}

func TestACallerDoesNotWaitBeforeACursorThatSkipsManyEvents(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := f.keyContext(t, func(p *caller.Principal) { p.AllBrands = false })
	f.addEvents(t, today, maxSkipped-1, nil)
	_, waits := f.readToWait(ctx, t, nil, maxWait)
	require.True(t, waits)
	f.addEvents(t, today, 1, nil)
	page, waits := f.readToWait(ctx, t, nil, maxWait)
	require.False(t, waits)
	require.Empty(t, page.GetItems())
	again, waits := f.readToWait(ctx, t, page.NextCursor, maxWait)
	require.True(t, waits, "the cursor is behind all of them")
	require.Equal(t, page.GetNextCursor(), again.GetNextCursor())
}

// A key is woken by the notice of an event if and only if the feed shows it the event.
func TestNoticesAndTheFeedAgreeOnWhoSeesAnEvent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	random := rand.New(rand.NewPCG(1, 2))
	brands := []string{f.brand, uuid.NewString(), uuid.NewString()}
	types := []string{"order.created", "order.message_posted", "personal_link.claimed", "order", "orders.created", "another.type"}
	byID := map[string]notices.Notice{}
	f.addEvents(t, today, 100, func(_ int, c *eventsv1.Change) {
		c.Type, c.BrandId, c.OriginKeyId = types[random.IntN(len(types))], brands[random.IntN(len(brands))], random.Int32N(4)
		byID[c.GetEventId()] = notices.Of(c)
	})
	scopes := []commonv1.Scope{
		commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS, commonv1.Scope_SCOPE_CATALOG,
	}
	some := 0
	for range 200 {
		p := caller.Principal{TenantID: f.tenant, KeyID: 1 + random.Int32N(4), AllBrands: random.IntN(3) == 0}
		for _, scope := range scopes {
			if random.IntN(2) == 0 {
				p.Scopes = append(p.Scopes, scope)
			}
		}
		for _, brand := range brands {
			if random.IntN(2) == 0 {
				p.BrandIDs = append(p.BrandIDs, brand)
			}
		}
		shown := map[string]bool{}
		for _, id := range ids(f.list(caller.WithPrincipal(t.Context(), p), t, nil, 100)) {
			shown[id] = true
		}
		some += len(shown)
		for id, n := range byID {
			require.Equal(t, shown[id], p.SeesEvent(n.Scope, n.BrandID, n.HiddenFrom), "%+v of %+v", n, p)
		}
	}
	require.NotZero(t, some)
}
