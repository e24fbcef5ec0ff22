package sender

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
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestADeliveryIsSignedPostedAndLogged(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("thank you")) })
	f.start()

	id, body := f.event(7)
	f.until(id, 7, inState("DELIVERED"))

	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 1)
	got := arrivals[0]
	require.True(t, got.Verified)
	require.Equal(t, body, got.Body)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, id, got.Header.Get("Service-Event-Id"))
	require.Equal(t, id, got.Header.Get("Webhook-Id"))
	require.Equal(t, strconv.FormatInt(f.clock.now().Unix(), 10), got.Header.Get("Webhook-Timestamp"))
	require.True(t, strings.HasPrefix(got.Header.Get("Webhook-Signature"), "v1,"))

	var status int
	var problem *string
	var logged []byte
	require.NoError(t, f.pool.QueryRow(t.Context(),
		"SELECT response_status, problem, response_body FROM attempts WHERE event_id = $1 AND number = 1", id).
		Scan(&status, &problem, &logged))
	require.Equal(t, 200, status)
	require.Nil(t, problem)
	require.Equal(t, "thank you", string(logged))
}

func TestAFailingReceiverIsTriedEightTimesByTheSchedule(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	s := f.start()
	id, _ := f.event(7)

	for i, delay := range []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		r := f.until(id, 7, attempted(i+1))
		require.Equal(t, "PENDING", r.State)
		pause := r.Next.Sub(f.clock.now())
		require.GreaterOrEqual(t, pause, delay)
		require.LessOrEqual(t, pause, delay+delay/10)

		justBefore := store.NewAt(f.pool, func() time.Time { return r.Next.Add(-time.Microsecond) })
		require.Empty(t, claimDue(t, justBefore, time.Minute), "nothing is due early")
		f.clock.set(*r.Next)
		s.Wake()
	}
	r := f.until(id, 7, inState("FAILED"))
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
	require.Len(t, signed, 8, "the t of each Service-Signature differs")
}

func TestEveryOtherOutcomeIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	redirectTarget := webhooktest.NewReceiver(t)
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
		"a server error":      {arrange: answers(webhooktest.Status(503)), status: 503, says: "HTTP status 503"},
		"a client error":      {arrange: answers(webhooktest.Status(404)), status: 404, says: "HTTP status 404"},
		"a redirect":          {arrange: answers(http.RedirectHandler(redirectTarget.URL, http.StatusFound).ServeHTTP), status: 302, says: "HTTP status 302"},
		"a closed port":       {arrange: unreached(closed.URL), says: "could not be reached"},
		"no response in time": {arrange: unreached("http://" + silent.Addr().String()), says: "did not answer in time"},
		"no URL at all":       {arrange: unreached("http://%zz"), says: "could not be reached"},
		"a private address":   {arrange: unreached("https://10.0.0.1/hook"), says: "does not lead to a public address", guarded: true},
		"plain HTTP":          {arrange: unreached("http://example.com/hook"), says: "must use HTTPS", guarded: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.cfg.Timeout = 500 * time.Millisecond
			if c.guarded {
				f.client = netguard.NewClient(netguard.Options{})
			}
			receiver := webhooktest.NewReceiver(t)
			c.arrange(receiver)
			f.activate(7, receiver)
			f.start()
			id, _ := f.event(7)

			r := f.until(id, 7, attempted(1))
			require.Equal(t, "PENDING", r.State)
			var status *int
			var problem string
			require.NoError(t, f.pool.QueryRow(t.Context(),
				"SELECT response_status, problem FROM attempts WHERE event_id = $1", id).Scan(&status, &problem))
			require.Contains(t, problem, c.says)
			if c.status == 0 {
				require.Nil(t, status)
			} else {
				require.Equal(t, c.status, *status)
			}
		})
	}
	require.Empty(t, redirectTarget.Arrivals(), "redirects are not followed")
}

func TestOnlyTheBeginningOfAResponseIsLogged(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7, func(rw http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte{0xff, 0}, 32<<10)
		for range 100 {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	f.start()
	id, _ := f.event(7)
	f.until(id, 7, inState("DELIVERED"))

	var logged []byte
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT response_body FROM attempts WHERE event_id = $1", id).Scan(&logged))
	require.Equal(t, bytes.Repeat([]byte{0xff, 0}, 512), logged)
}

func TestADeliveryWhoseResponseDoesNotEndIsDelivered(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Timeout = 3 * time.Second
	receiver := f.receiver(7, func(rw http.ResponseWriter, req *http.Request) {
		rw.WriteHeader(http.StatusAccepted)
		_, _ = rw.Write([]byte("thank"))
		_ = http.NewResponseController(rw).Flush()
		<-req.Context().Done()
	})
	f.start()
	id, _ := f.event(7)
	require.Equal(t, 1, f.until(id, 7, inState("DELIVERED")).Attempts)
	require.Len(t, receiver.Arrivals(), 1)
}

func TestAFailureOnOurSideCostsNoAttempt(t *testing.T) {
	t.Parallel()
	t.Run("no resolver answers", func(t *testing.T) {
		f := setup(t)
		unreachable := func(context.Context, string, string) (net.Conn, error) {
			return (&net.Dialer{}).Dial("tcp", "127.0.0.1:1")
		}
		f.client = netguard.NewClient(netguard.Options{Resolver: &net.Resolver{PreferGo: true, Dial: unreachable}})
		nowhere := f.receiver(7).Endpoint(7)
		nowhere.Url = "https://hooks.example.com/"
		f.directory.SetEndpoint(nowhere)
		f.start()
		id, _ := f.event(7)
		due := f.clock.now().Add(30 * time.Second)
		r := f.until(id, 7, func(r row) bool { return !r.Leased && r.Next.Equal(due) })
		require.Equal(t, row{State: "PENDING", Next: r.Next}, r)
	})
	t.Run("the tenants service is down", func(t *testing.T) {
		f := setup(t)
		receiver := f.receiver(7)
		f.directory.Fail(problem.Unavailable())
		s := f.start()
		id, _ := f.event(7)
		r := f.until(id, 7, func(r row) bool { return !r.Leased && r.Next.After(f.clock.now()) })
		require.Zero(t, r.Attempts)
		require.Empty(t, receiver.Arrivals())

		f.directory.Fail(nil)
		f.clock.advance(time.Second)
		s.Wake()
		r = f.until(id, 7, inState("DELIVERED"))
		require.Equal(t, 1, r.Attempts)
	})
}
