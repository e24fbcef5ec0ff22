package sender_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestADeliveryIsSignedPostedAndLogged(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("thank you")) })
	w.directory.SetActive(7, receiver)
	w.start()

	id, body := w.event(7)
	w.until(id, 7, inState("DELIVERED"))

	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 1)
	got := arrivals[0]
	require.True(t, got.Verified)
	require.Equal(t, body, got.Body)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, id, got.Header.Get("Service-Event-Id"))
	require.Equal(t, id, got.Header.Get("Webhook-Id"))
	require.Equal(t, strconv.FormatInt(w.clock.now().Unix(), 10), got.Header.Get("Webhook-Timestamp"))
	require.True(t, strings.HasPrefix(got.Header.Get("Webhook-Signature"), "v1,"))

	var status int
	var problem *string
	var kept []byte
	require.NoError(t, w.pool.QueryRow(t.Context(),
		"SELECT response_status, problem, response_body FROM attempts WHERE event_id = $1 AND number = 1", id).
		Scan(&status, &problem, &kept))
	require.Equal(t, 200, status)
	require.Nil(t, problem)
	require.Equal(t, "thank you", string(kept))
}

func TestAFailingReceiverIsTriedEightTimesByTheTable(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(webhooktest.Status(http.StatusInternalServerError))
	w.directory.SetActive(7, receiver)
	s := w.start()
	id, _ := w.event(7)

	for i, delay := range []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		r := w.until(id, 7, attempted(i+1))
		require.Equal(t, "PENDING", r.State)
		pause := r.Next.Sub(w.clock.now())
		require.GreaterOrEqual(t, pause, delay)
		require.LessOrEqual(t, pause, delay+delay/10)

		justBefore := store.NewAt(w.pool, func() time.Time { return r.Next.Add(-time.Microsecond) })
		early, err := justBefore.Claim(t.Context(), store.ClaimRequest{Lease: time.Minute, Limit: 1, PerEndpoint: 8})
		require.NoError(t, err)
		require.Empty(t, early.Deliveries, "nothing is due before its time")
		w.clock.set(*r.Next)
		s.Wake()
	}
	r := w.until(id, 7, inState("FAILED"))
	require.Equal(t, row{State: "FAILED", Attempts: 8, Logged: 8}, r)

	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 8)
	times, signed := map[string]bool{}, map[string]bool{}
	for _, a := range arrivals {
		require.True(t, a.Verified)
		require.Equal(t, arrivals[0].Body, a.Body)
		require.Equal(t, id, a.Header.Get("Service-Event-Id"))
		require.Equal(t, id, a.Header.Get("Webhook-Id"))
		at, _, _ := strings.Cut(a.Header.Get("Service-Signature"), ",")
		require.Equal(t, "t="+a.Header.Get("Webhook-Timestamp"), at)
		times[a.Header.Get("Webhook-Timestamp")], signed[at] = true, true
	}
	require.Len(t, times, 8, "each attempt is signed with its own time")
	require.Len(t, signed, 8, "the t of each Service-Signature is its own")
}

func TestEveryOtherOutcomeIsAFailedAttempt(t *testing.T) {
	elsewhere := webhooktest.NewReceiver(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	unreached := func(url string) func(r *webhooktest.Receiver) {
		return func(r *webhooktest.Receiver) { r.URL = url }
	}
	answers := func(h http.HandlerFunc) func(r *webhooktest.Receiver) {
		return func(r *webhooktest.Receiver) { r.Respond(h) }
	}
	for name, c := range map[string]struct {
		arrange func(r *webhooktest.Receiver)
		guarded bool
		status  int
		says    string
	}{
		"a server error":    {arrange: answers(webhooktest.Status(503)), status: 503, says: "HTTP status 503"},
		"a client error":    {arrange: answers(webhooktest.Status(404)), status: 404, says: "HTTP status 404"},
		"a redirect":        {arrange: answers(http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP), status: 302, says: "HTTP status 302"},
		"a closed port":     {arrange: unreached(closed.URL), says: "could not be reached"},
		"no answer in time": {arrange: unreached("http://" + silent.Addr().String()), says: "did not answer in time"},
		"no URL at all":     {arrange: unreached("http://%zz"), says: "could not be reached"},
		"a private address": {arrange: unreached("https://10.0.0.1/hook"), says: "does not lead to a public address", guarded: true},
		"plain HTTP":        {arrange: unreached("http://example.com/hook"), says: "must use HTTPS", guarded: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.limits.Timeout = 500 * time.Millisecond
			if c.guarded {
				w.client = netguard.NewClient(netguard.Options{})
			}
			receiver := webhooktest.NewReceiver(t)
			c.arrange(receiver)
			w.directory.SetActive(7, receiver)
			w.start()
			id, _ := w.event(7)

			r := w.until(id, 7, attempted(1))
			require.Equal(t, "PENDING", r.State)
			var status *int
			var problem string
			require.NoError(t, w.pool.QueryRow(t.Context(),
				"SELECT response_status, problem FROM attempts WHERE event_id = $1", id).Scan(&status, &problem))
			require.Contains(t, problem, c.says)
			if c.status == 0 {
				require.Nil(t, status)
			} else {
				require.Equal(t, c.status, *status)
			}
		})
	}
	require.Empty(t, elsewhere.Arrivals(), "redirects are not followed")
}

func TestOnlyTheBeginningOfAnAnswerIsKept(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(func(rw http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte{0xff, 0}, 32<<10)
		for range 100 {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	w.directory.SetActive(7, receiver)
	w.start()
	id, _ := w.event(7)
	w.until(id, 7, inState("DELIVERED"))

	var kept []byte
	require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT response_body FROM attempts WHERE event_id = $1", id).Scan(&kept))
	require.Equal(t, bytes.Repeat([]byte{0xff, 0}, 512), kept)
}

func TestAFaultOfOursCostsNoAttempt(t *testing.T) {
	t.Run("no resolver answers", func(t *testing.T) {
		w := setup(t)
		nobody := func(context.Context, string, string) (net.Conn, error) {
			return (&net.Dialer{}).Dial("tcp", "127.0.0.1:1")
		}
		w.client = netguard.NewClient(netguard.Options{Resolver: &net.Resolver{PreferGo: true, Dial: nobody}})
		w.directory.Set(&tenantsv1.Endpoint{
			KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, Url: "https://hooks.example.com/", Secret: "s",
		})
		w.start()
		id, _ := w.event(7)
		due := w.clock.now().Add(30 * time.Second)
		r := w.until(id, 7, func(r row) bool { return !r.Leased && r.Next.Equal(due) })
		require.Equal(t, row{State: "PENDING", Next: r.Next}, r)
	})
	t.Run("the tenants service is down", func(t *testing.T) {
		w := setup(t)
		receiver := webhooktest.NewReceiver(t)
		w.directory.SetActive(7, receiver)
		w.directory.SetDown(true)
		s := w.start()
		id, _ := w.event(7)
		r := w.until(id, 7, func(r row) bool { return !r.Leased && r.Next.After(w.clock.now()) })
		require.Zero(t, r.Attempts)
		require.Empty(t, receiver.Arrivals())

		w.directory.SetDown(false)
		w.clock.advance(time.Second)
		s.Wake()
		r = w.until(id, 7, inState("DELIVERED"))
		require.Equal(t, 1, r.Attempts)
	})
}
