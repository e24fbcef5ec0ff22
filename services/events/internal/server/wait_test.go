package server

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
)

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
