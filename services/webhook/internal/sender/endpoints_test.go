package sender

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
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

// A receiver may know any of the secrets. One that reads only the last v1, as here, finds that of the new secret.
func TestAllSecretsSignDuringAnOverlap(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("0123456789abcdef", 4), strings.Repeat("1", 64)
	for name, c := range map[string]struct {
		endpoint *tenantsv1.Endpoint
		want     int
	}{
		"one of before": {&tenantsv1.Endpoint{PreviousSecret: one, PreviousSecrets: []string{one}}, 2},
		"two of before": {&tenantsv1.Endpoint{PreviousSecret: two, PreviousSecrets: []string{two, one}}, 3},
		"a tenants service of the previous version": {&tenantsv1.Endpoint{PreviousSecret: one}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			receiver := f.receiver(7, webhooktest.Status(http.StatusOK))
			receiver.Rotate(strings.Repeat("fedcba9876543210", 4))
			rotated := receiver.Endpoint(7)
			rotated.PreviousSecret, rotated.PreviousSecrets = c.endpoint.GetPreviousSecret(), c.endpoint.GetPreviousSecrets()
			f.directory.SetEndpoint(rotated)
			f.start()
			id, _ := f.event(7)
			f.until(id, 7, inState("DELIVERED"))
			arrival := receiver.Arrivals()[0]
			require.True(t, arrival.Verified)
			require.Len(t, strings.Split(arrival.Header.Get("Service-Signature"), ",v1="), c.want+1)
			require.Len(t, strings.Split(arrival.Header.Get("Webhook-Signature"), " "), c.want)
			at, err := strconv.ParseInt(arrival.Header.Get("Webhook-Timestamp"), 10, 64)
			require.NoError(t, err)
			require.Equal(t, rules.Signature(webhookclient.Secrets(rotated), time.Unix(at, 0), arrival.Body), arrival.Header.Get("Service-Signature"))
		})
	}
}
