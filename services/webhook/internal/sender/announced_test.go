package sender_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestWhereAnnouncedDeliveriesGoIsAskedForOnce(t *testing.T) {
	w := setup(t)
	w.limits.Poll = time.Hour
	for _, key := range []int32{7, 8} {
		w.directory.SetActive(key, webhooktest.NewReceiver(t))
	}
	var lookups atomic.Int32
	w.directory.OnLookup(func() { lookups.Add(1) })
	delivered := func(id string) {
		w.until(id, 7, inState("DELIVERED"))
		w.until(id, 8, inState("DELIVERED"))
	}
	first, _ := w.event(7, 8)
	s := w.start()
	delivered(first)
	require.EqualValues(t, 1, lookups.Load(), "after the claim, as nobody announced them")

	// From now on it claims only when it is told to.
	second, _ := w.event(7, 8)
	s.Announce([]int32{8, 7, 8})
	delivered(second)
	require.EqualValues(t, 2, lookups.Load(), "while they were claimed")

	third, _ := w.event(7, 8)
	s.Announce([]int32{8})
	delivered(third)
	require.EqualValues(t, 4, lookups.Load(), "what was claimed and not announced is asked for then")
}

// That an endpoint is gone is final, and it may have been set again while the claim waited.
func TestAnEndpointThatIsGoneIsAskedForAgainAfterTheClaim(t *testing.T) {
	w := setup(t)
	w.limits.Poll = time.Hour
	w.directory.SetActive(8, webhooktest.NewReceiver(t))
	w.directory.Set(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	var lookups atomic.Int32
	w.directory.OnLookup(func() { lookups.Add(1) })
	first, _ := w.event(8)
	s := w.start()
	w.until(first, 8, inState("DELIVERED"))

	before := lookups.Load()
	second, _ := w.event(7)
	s.Announce([]int32{7})
	w.until(second, 7, inState("DROPPED"))
	require.EqualValues(t, 2, lookups.Load()-before)
}

func TestAnnouncedDeliveriesWaitWhileTheTenantsServiceIsDown(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(webhooktest.Status(http.StatusOK))
	w.directory.SetActive(7, receiver)
	w.directory.SetDown(true)
	s := w.start()
	id, _ := w.event(7)
	s.Announce([]int32{7})
	r := w.until(id, 7, func(r row) bool { return !r.Leased && r.Next.After(w.clock.now()) })
	require.Zero(t, r.Attempts)

	w.directory.SetDown(false)
	w.clock.advance(time.Second)
	s.Wake()
	require.Equal(t, 1, w.until(id, 7, inState("DELIVERED")).Attempts)
}
