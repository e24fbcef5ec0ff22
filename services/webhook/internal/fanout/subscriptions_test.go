package fanout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	waitLimit    = 10 * time.Second
	pollInterval = time.Millisecond
)

// lookups are the calls of the directory, each held with its answer made until it is let go.
type lookups struct {
	t       *testing.T
	entered chan []string
	proceed chan struct{}
}

func (w *world) holdLookups() lookups {
	l := lookups{t: w.t, entered: make(chan []string), proceed: make(chan struct{})}
	over := w.t.Context().Done()
	w.directory.OnList(func(tenantIDs []string) {
		select {
		case l.entered <- tenantIDs:
		case <-over:
		}
		select {
		case <-l.proceed:
		case <-over:
		}
	})
	return l
}

// next gives what the next call asks for.
func (l lookups) next() []string {
	l.t.Helper()
	select {
	case ids := <-l.entered:
		return ids
	case <-time.After(waitLimit):
		require.Fail(l.t, "no call of the directory")
		return nil
	}
}

// handled is a batch of one change each, handled at the same time as others.
type handled struct {
	*world
	group errgroup.Group
}

func (h *handled) start(c *eventsv1.Change, partition int) {
	h.t.Helper()
	msgs := messages(h.t, c)
	h.group.Go(func() error { return h.fan.Handle(h.t.Context(), partition, msgs) })
}

func (h *handled) startAndWait(c *eventsv1.Change, partition, waiting int) {
	h.t.Helper()
	h.start(c, partition)
	require.Eventually(h.t, func() bool { return h.fan.WaitForLookup() == waiting }, waitLimit, pollInterval)
}

func TestBatchesThatWaitShareOneLookup(t *testing.T) {
	w := setup(t)
	calls, h := w.holdLookups(), &handled{world: w}
	want := map[string][]int32{}
	of := func(tenantID string, key int32) *eventsv1.Change {
		c := change("order.created", 0)
		c.TenantId = tenantID
		want[c.GetEventId()] = []int32{key}
		return c
	}
	ids := make([]string, 4)
	for i := range ids {
		ids[i] = fmt.Sprintf("0190aaaa-0000-7000-8000-00000000001%d", i)
		w.directory.Subscribe(ids[i], &tenantsv1.EndpointSubscription{
			KeyId: int32(i + 1), AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
		})
	}
	h.start(of(ids[0], 1), 0)
	require.Equal(t, ids[:1], calls.next())
	h.start(of(ids[1], 2), 1)
	require.Equal(t, ids[1:2], calls.next(), "two at once")
	h.startAndWait(of(ids[3], 4), 2, 1)
	h.startAndWait(of(ids[2], 3), 3, 2)
	h.startAndWait(of(ids[3], 4), 4, 3)

	calls.proceed <- struct{}{}
	require.Equal(t, ids[2:], calls.next(), "each tenant once, for all who waited")
	close(calls.proceed)
	require.NoError(t, h.group.Wait(), "no fourth call, which nobody would have taken note of")
	require.Equal(t, want, w.deliveries())
}

func TestAnEndpointSetDuringALookupIsFoundForTheChangesThatComeAfterIt(t *testing.T) {
	w := setup(t)
	calls, h := w.holdLookups(), &handled{world: w}
	for partition := range 2 {
		h.start(change("order.created", 0), partition)
		require.Equal(t, []string{tenant}, calls.next())
	}
	w.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	after := change("order.created", 0)
	h.startAndWait(after, 2, 1)

	calls.proceed <- struct{}{}
	require.Equal(t, []string{tenant}, calls.next(), "it goes into none that is under way")
	close(calls.proceed)
	require.NoError(t, h.group.Wait())
	require.Equal(t, map[string][]int32{after.GetEventId(): {1}}, w.deliveries())
}

func TestALookupOfManyTenantsIsSplitIntoCallsThatTheDirectoryTakes(t *testing.T) {
	w := setup(t)
	var asked []int
	w.directory.OnList(func(tenantIDs []string) { asked = append(asked, len(tenantIDs)) })
	w.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	known := change("order.created", 0)
	changes := []*eventsv1.Change{known}
	for range 2000 {
		c := change("order.created", 0)
		c.TenantId = uuid.NewString()
		changes = append(changes, c)
	}
	require.NoError(t, w.fan.Handle(t.Context(), 0, messages(t, changes...)))
	require.Equal(t, []int{1000, 1000, 1}, asked)
	require.Equal(t, map[string][]int32{known.GetEventId(): {1}}, w.deliveries())
}

func TestABatchWithoutChangesAsksForNothing(t *testing.T) {
	w := setup(t)
	w.directory.OnList(func([]string) { t.Error("the directory was asked") })
	msgs := messages(t, change("order.created", 0))
	msgs[0].Value = nil
	require.NoError(t, w.fan.Handle(t.Context(), 0, msgs))
}
