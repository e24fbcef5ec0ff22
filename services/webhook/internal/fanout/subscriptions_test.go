package fanout

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	waitLimit    = 10 * time.Second
	pollInterval = time.Millisecond
)

// heldLookups are calls of the directory that have read their response and wait to return it.
type heldLookups struct {
	t       *testing.T
	entered chan []string
	proceed chan struct{}
}

func (f *fixture) holdLookups() heldLookups {
	l := heldLookups{t: f.t, entered: make(chan []string), proceed: make(chan struct{})}
	over := f.t.Context().Done()
	f.onLookup(func(tenantIDs []string) {
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

// onLookup calls with the tenants of each lookup, before its response is returned.
func (f *fixture) onLookup(call func(tenantIDs []string)) {
	f.directory.OnCall(func(_ context.Context, req proto.Message) error {
		call(req.(*tenantsv1.ListEndpointsRequest).GetTenantIds())
		return nil
	})
}

// next returns the tenants of the next call.
func (l heldLookups) next() []string {
	l.t.Helper()
	select {
	case ids := <-l.entered:
		return ids
	case <-time.After(waitLimit):
		require.Fail(l.t, "no call of the directory")
		return nil
	}
}

// handled are batches of one change each that are handled concurrently.
type handled struct {
	*fixture
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
	require.Eventually(h.t, func() bool { return h.fan.subscriptions.lookups.Waiting() == waiting }, waitLimit, pollInterval)
}

func TestBatchesThatWaitShareOneLookup(t *testing.T) {
	t.Parallel()
	f := setup(t)
	calls, h := f.holdLookups(), &handled{fixture: f}
	want := map[string][]int32{}
	changeOf := func(tenantID string, key int32) *eventsv1.Change {
		c := newChange("order.created", 0)
		c.TenantId = tenantID
		want[c.GetEventId()] = []int32{key}
		return c
	}
	ids := make([]string, 4)
	for i := range ids {
		ids[i] = fmt.Sprintf("0190aaaa-0000-7000-8000-00000000001%d", i)
		f.directory.Subscribe(ids[i], &tenantsv1.EndpointSubscription{
			KeyId: int32(i + 1), AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
		})
	}
	h.start(changeOf(ids[0], 1), 0)
	require.Equal(t, ids[:1], calls.next())
	h.start(changeOf(ids[1], 2), 1)
	require.Equal(t, ids[1:2], calls.next(), "two concurrent calls")
	h.startAndWait(changeOf(ids[3], 4), 2, 1)
	h.startAndWait(changeOf(ids[2], 3), 3, 2)
	h.startAndWait(changeOf(ids[3], 4), 4, 3)

	calls.proceed <- struct{}{}
	require.Equal(t, ids[2:], calls.next(), "each tenant once, for all batches that waited")
	close(calls.proceed)
	require.NoError(t, h.group.Wait(), "no fourth call, which would hang")
	require.Equal(t, want, f.deliveries())
}

func TestAnEndpointSetDuringALookupIsFoundForLaterChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	calls, h := f.holdLookups(), &handled{fixture: f}
	for partition := range 2 {
		h.start(newChange("order.created", 0), partition)
		require.Equal(t, []string{tenant}, calls.next())
	}
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	after := newChange("order.created", 0)
	h.startAndWait(after, 2, 1)

	calls.proceed <- struct{}{}
	require.Equal(t, []string{tenant}, calls.next(), "it does not share a lookup in flight")
	close(calls.proceed)
	require.NoError(t, h.group.Wait())
	require.Equal(t, map[string][]int32{after.GetEventId(): {1}}, f.deliveries())
}

func TestALookupOfManyTenantsIsSplitIntoSeveralCalls(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var sizes []int
	f.onLookup(func(tenantIDs []string) { sizes = append(sizes, len(tenantIDs)) })
	f.subscribe(1, nil, commonv1.Scope_SCOPE_ORDERS)
	known := newChange("order.created", 0)
	changes := []*eventsv1.Change{known}
	for range 2 * maxTenants {
		c := newChange("order.created", 0)
		c.TenantId = uuid.NewString()
		changes = append(changes, c)
	}
	require.NoError(t, f.fan.Handle(t.Context(), 0, messages(t, changes...)))
	require.Equal(t, []int{maxTenants, maxTenants, 1}, sizes)
	require.Equal(t, map[string][]int32{known.GetEventId(): {1}}, f.deliveries())
}
