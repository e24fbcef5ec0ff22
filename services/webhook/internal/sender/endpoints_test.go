package sender

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestDeliveriesWaitWhileAccessIsOff(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := webhooktest.NewReceiver(t)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED})
	f.receiver(8)
	s := f.start()

	first, _ := f.event(7, 8)
	f.until(first, 8, inState("DELIVERED"))
	f.until(first, 7, func(r row) bool { return !r.Leased })
	for range 20 {
		id, _ := f.event(7, 8)
		s.Wake()
		f.until(id, 8, inState("DELIVERED"))
	}
	require.Equal(t, row{State: "PENDING", Next: f.row(first, 7).Next}, f.row(first, 7), "a pause uses no attempt")

	f.activate(7, receiver)
	f.clock.advance(15 * time.Second)
	s.Wake()
	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 21 }, waitLimit, pollInterval)
	require.Equal(t, 1, f.until(first, 7, inState("DELIVERED")).Attempts)
}

func TestDeliveriesOfAnEndpointThatIsGoneAreDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	f.start()
	id, _ := f.event(7, 8)
	require.Equal(t, row{State: "DROPPED"}, f.until(id, 7, inState("DROPPED")))
	require.Equal(t, row{State: "DROPPED"}, f.until(id, 8, inState("DROPPED")), "a key that does not exist")
}

// The key had the scope and the brand when the event was fanned out.
func TestAnEventThatTheKeyMayNotSeeAnyMoreIsDropped(t *testing.T) {
	t.Parallel()
	for name, grants := range map[string]*tenantsv1.Endpoint{
		"another scope":   {Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS}, AllBrands: true},
		"other brands":    {Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, BrandIds: []string{"0190bbbb-0000-7000-8000-000000000009"}},
		"no brand":        {Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}},
		"no scope at all": {AllBrands: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			receiver := f.receiver(7, webhooktest.Status(http.StatusServiceUnavailable))
			s := f.start()
			id, _ := f.event(7)
			r := f.until(id, 7, attempted(1))
			changed := receiver.Endpoint(7)
			changed.Scopes, changed.AllBrands, changed.BrandIds = grants.GetScopes(), grants.GetAllBrands(), grants.GetBrandIds()
			f.directory.SetEndpoint(changed)
			f.clock.set(*r.Next)
			s.Wake()
			f.until(id, 7, inState("DROPPED"))
			require.Len(t, receiver.Arrivals(), 1)
		})
	}
}

// The key got the right while its deliveries were claimed.
func TestARightThatIsMissingIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	s := f.start()
	early := earlyLookup{began: time.Now(), result: make(chan lookupResult, 1)}
	early.result <- lookupResult{found: endpoints{7: {url: "https://old.example", grants: &tenantsv1.Endpoint{}}}}
	d := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: endpointOfKey(7)}, Type: "order.created"}
	found, err := s.endpointsOf(t.Context(), []store.Delivery{d}, early)
	require.NoError(t, err)
	require.False(t, found[7].refuses(d))
}

func TestARotatedSecretSignsTheNextAttempt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusServiceUnavailable))
	s := f.start()
	id, _ := f.event(7)
	r := f.until(id, 7, attempted(1))

	receiver.Respond(webhooktest.Status(http.StatusOK))
	receiver.Rotate(strings.Repeat("fedcba9876543210", 4))
	f.activate(7, receiver)
	f.clock.set(*r.Next)
	s.Wake()
	f.until(id, 7, inState("DELIVERED"))
	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 2)
	require.True(t, arrivals[1].Verified)
	require.NotEqual(t, arrivals[0].Header.Get("Service-Signature"), arrivals[1].Header.Get("Service-Signature"))
}

func TestADeadEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.neverTimeOut()
	f.cfg.PerEndpoint, f.healthy = 4, []int32{7}
	release := make(chan struct{})
	dead := f.receiver(7, webhooktest.Blocked(release))
	f.receiver(8)
	var backlog string
	for range 50 {
		backlog, _ = f.event(7)
	}
	s := f.start()
	require.Eventually(t, func() bool { return len(dead.Arrivals()) == 4 }, waitLimit, pollInterval)

	for range 20 {
		id, _ := f.event(8)
		s.Wake()
		f.until(id, 8, inState("DELIVERED"))
	}
	require.Len(t, dead.Arrivals(), 4, "the dead endpoint has no more than PerEndpoint")

	close(release)
	f.until(backlog, 7, inState("DELIVERED"))
	require.Eventually(t, func() bool { return len(dead.Arrivals()) == 50 }, waitLimit, pollInterval)
	require.LessOrEqual(t, dead.MaxConcurrent(), 4)
}

// A receiver may know either secret. One that reads only the last v1, as here, finds that of the new one.
func TestBothSecretsSignDuringAnOverlap(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusOK))
	previous := receiver.Endpoint(7).GetSecret()
	receiver.Rotate(strings.Repeat("fedcba9876543210", 4))
	rotated := receiver.Endpoint(7)
	rotated.PreviousSecret, rotated.PreviousSignsFor = previous, durationpb.New(time.Hour)
	f.directory.SetEndpoint(rotated)
	f.start()
	id, _ := f.event(7)
	f.until(id, 7, inState("DELIVERED"))
	arrival := receiver.Arrivals()[0]
	require.True(t, arrival.Verified)
	require.Len(t, strings.Split(arrival.Header.Get("Webhook-Signature"), " "), 2)
	at, err := strconv.ParseInt(arrival.Header.Get("Webhook-Timestamp"), 10, 64)
	require.NoError(t, err)
	require.Equal(t, rules.Signature([]string{previous, rotated.GetSecret()}, time.Unix(at, 0), arrival.Body), arrival.Header.Get("Service-Signature"))
}
