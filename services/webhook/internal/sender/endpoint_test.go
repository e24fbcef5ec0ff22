package sender_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestDeliveriesWaitWhileAccessIsOff(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	w.directory.Set(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED})
	open := webhooktest.NewReceiver(t)
	w.directory.SetActive(8, open)
	s := w.start()

	first, _ := w.event(7, 8)
	w.until(first, 8, inState("DELIVERED"))
	w.until(first, 7, func(r row) bool { return !r.Leased })
	for range 20 {
		id, _ := w.event(7, 8)
		s.Wake()
		w.until(id, 8, inState("DELIVERED"))
	}
	require.Equal(t, row{State: "PENDING", Next: w.row(first, 7).Next}, w.row(first, 7), "a pause consumes nothing")

	w.directory.SetActive(7, receiver)
	w.clock.advance(15 * time.Second)
	s.Wake()
	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 21 }, soon, often)
	require.Equal(t, 1, w.until(first, 7, inState("DELIVERED")).Attempts)
}

func TestDeliveriesOfAnEndpointThatIsGoneAreDropped(t *testing.T) {
	w := setup(t)
	w.directory.Set(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	w.start()
	id, _ := w.event(7, 8)
	require.Equal(t, row{State: "DROPPED"}, w.until(id, 7, inState("DROPPED")))
	require.Equal(t, row{State: "DROPPED"}, w.until(id, 8, inState("DROPPED")), "a key that does not exist")
}

func TestARotatedSecretSignsTheNextAttempt(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(webhooktest.Status(http.StatusServiceUnavailable))
	w.directory.SetActive(7, receiver)
	s := w.start()
	id, _ := w.event(7)
	r := w.until(id, 7, attempted(1))

	receiver.Respond(webhooktest.Status(http.StatusOK))
	receiver.Rotate(strings.Repeat("fedcba9876543210", 4))
	w.directory.SetActive(7, receiver)
	w.clock.set(*r.Next)
	s.Wake()
	w.until(id, 7, inState("DELIVERED"))
	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 2)
	require.True(t, arrivals[1].Verified)
	require.NotEqual(t, arrivals[0].Header.Get("Service-Signature"), arrivals[1].Header.Get("Service-Signature"))
}

func TestADeadEndpointDelaysNoOther(t *testing.T) {
	w := setup(t)
	w.limits.PerEndpoint = 4
	dead, alive := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
	release := make(chan struct{})
	dead.Respond(webhooktest.Blocked(release))
	w.directory.SetActive(7, dead)
	w.directory.SetActive(8, alive)
	var backlog string
	for range 50 {
		backlog, _ = w.event(7)
	}
	s := w.start()
	require.Eventually(t, func() bool { return len(dead.Arrivals()) == 4 }, soon, often)

	for range 20 {
		id, _ := w.event(8)
		s.Wake()
		w.until(id, 8, inState("DELIVERED"))
	}
	require.Len(t, dead.Arrivals(), 4, "the dead endpoint has no more than its share")

	close(release)
	w.until(backlog, 7, inState("DELIVERED"))
	require.Eventually(t, func() bool { return len(dead.Arrivals()) == 50 }, soon, often)
	require.LessOrEqual(t, dead.MostAtOnce(), 4)
}
