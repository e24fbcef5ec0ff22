package sender

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// makeGone makes the endpoint of a key gone, as after its URL is removed or its key is revoked.
func (f *fixture) makeGone(key int32) {
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: key, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
}

func TestALookupOfKeysWithManyBrandsFitsAMessage(t *testing.T) {
	t.Parallel()
	e := &tenantsv1.Endpoint{Url: strings.Repeat("u", 2048)}
	for range 1000 {
		e.BrandIds = append(e.BrandIds, uuid.NewString())
	}
	const most = 32 << 20 // The bytes of a message of package rpc.
	require.Less(t, maxLookup*proto.Size(e), most)
}

// stopped returns a registered sender that does not run any more, so that the test calls its steps itself.
func (f *fixture) stopped() running {
	f.t.Helper()
	s := f.start()
	s.stop()
	require.NoError(f.t, s.wait())
	return s
}

func TestDeliveriesThatWaitForARetryAreDroppedWhenTheirEndpointIsGone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.goneInterval = 0
	f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	f.receiver(8, webhooktest.Status(http.StatusInternalServerError))
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 9, State: tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED})
	f.start()
	id := f.event(7, 8, 9)
	f.waitFor(id, 7, attempted(1))
	f.waitFor(id, 8, attempted(1))

	f.makeGone(7)
	f.makeGone(9)
	require.Equal(t, row{State: "DROPPED", Attempts: 1, Logged: 1}, f.waitFor(id, 7, inState("DROPPED")))
	require.Equal(t, row{State: "DROPPED"}, f.waitFor(id, 9, inState("DROPPED")), "it was paused, so nothing was attempted")
	require.Equal(t, "PENDING", f.row(id, 8).State)
	require.Eventually(t, func() bool {
		return f.tel.Values(t, "gifting.webhook.deliveries")["outcome=dropped"] == 2
	}, waitLimit, pollInterval)
}

func TestAnAttemptInFlightFinishesWhenItsEndpointIsGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		state  string
	}{
		"and counts if it was delivered":   {http.StatusOK, "DELIVERED"},
		"and is not repeated if it failed": {http.StatusInternalServerError, "DROPPED"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.neverTimeOut()
			f.goneInterval, f.cfg.PerEndpoint = 0, 1
			release := make(chan struct{})
			receiver := f.receiver(7, func(w http.ResponseWriter, _ *http.Request) {
				<-release
				w.WriteHeader(c.status)
			})
			first := f.event(7)
			f.start()
			require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, waitLimit, pollInterval)
			second := f.event(7)
			f.makeGone(7)
			f.waitFor(second, 7, inState("DROPPED"))
			require.True(t, f.row(first, 7).Leased)
			close(release)
			require.Equal(t, row{State: c.state, Attempts: 1, Logged: 1}, f.waitFor(first, 7, inState(c.state)))
			require.Len(t, receiver.Arrivals(), 1)
		})
	}
}

// A key that is not known may be missing only because the tenants database is being restored.
func TestTheRetriesOfAnUnknownKeyAreKept(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.stopped()
	id := f.event(7)
	found, err := f.store.Discover(t.Context(), s.id, true)
	require.NoError(t, err)
	require.NoError(t, s.dropGone(t.Context(), found))
	require.Equal(t, "PENDING", f.row(id, 7).State)
}

func TestADeliveryToAnEndpointThatWasSetAgainIsKept(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.stopped()
	before := f.event(7)
	resent := f.event(7)
	pgtest.Exec(t, f.pool,
		"UPDATE deliveries SET state = 'DROPPED', next_attempt_at = NULL, finished_at = created_at WHERE event_id = $1", resent)
	found, err := f.store.Discover(t.Context(), s.id, true)
	require.NoError(t, err)
	require.Equal(t, f.clock.now(), found.StartedAt.UTC())

	f.makeGone(7)
	var after string
	f.directory.OnCall(func(context.Context, proto.Message) error {
		// Right after the lookup the endpoint is set again, an event is fanned out to it, and an old one is resent.
		f.clock.advance(time.Microsecond)
		after = f.event(7)
		return f.store.Resend(t.Context(), endpointOfKey(7), resent)
	})
	require.NoError(t, s.dropGone(t.Context(), found))
	require.Equal(t, "DROPPED", f.row(before, 7).State)
	require.Equal(t, "PENDING", f.row(after, 7).State)
	require.Equal(t, "PENDING", f.row(resent, 7).State)
}

func TestDeliveriesOfAnEndpointThatIsGoneAreDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	f.start()
	id := f.event(7, 8)
	require.Equal(t, row{State: "DROPPED"}, f.waitFor(id, 7, inState("DROPPED")))
	require.Equal(t, row{State: "DROPPED"}, f.waitFor(id, 8, inState("DROPPED")), "a key that does not exist")
}

// The key had the brand when the event was fanned out.
func TestAnEventThatTheKeyMayNotSeeAnyMoreIsDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusServiceUnavailable))
	s := f.start()
	id := f.event(7)
	r := f.waitFor(id, 7, attempted(1))
	changed := receiver.Endpoint(7)
	changed.AllBrands, changed.BrandIds = false, []string{"0190bbbb-0000-7000-8000-000000000009"}
	f.directory.SetEndpoint(changed)
	f.clock.set(*r.Next)
	s.Wake()
	f.waitFor(id, 7, inState("DROPPED"))
	require.Len(t, receiver.Arrivals(), 1)
}

// Dropping a delivery is final, but the key may have got its right, or its URL, since the earlier lookup.
func TestARightThatIsMissingIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	s := f.start()
	d := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: endpointOfKey(7)}, Type: "order.created"}
	for _, then := range []endpoint{{url: "https://old.example", grants: &tenantsv1.Endpoint{}}, {}} {
		found, err := s.endpointsOf(t.Context(), []store.Delivery{d}, earlierLookup{time.Now(), endpoints{7: then}})
		require.NoError(t, err)
		require.False(t, found[7].mustDrop(d))
	}
}
