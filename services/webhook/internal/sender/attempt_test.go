package sender

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestAFailingReceiverIsTriedEightTimesByTheSchedule(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	s := f.start()
	id := f.event(7)

	for i, delay := range []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		r := f.waitFor(id, 7, attempted(i+1))
		require.Equal(t, "PENDING", r.State)
		pause := r.Next.Sub(f.clock.now())
		require.GreaterOrEqual(t, pause, delay)
		require.LessOrEqual(t, pause, delay+delay/10)

		justBefore := store.NewAt(f.pool, func() time.Time { return r.Next.Add(-time.Microsecond) })
		require.Empty(t, claimDue(t, justBefore, time.Minute), "nothing is due early")
		f.clock.set(*r.Next)
		s.Wake()
	}
	r := f.waitFor(id, 7, inState("FAILED"))
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
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, c := range map[string]struct {
		respond http.HandlerFunc
		url     string
		status  *int
		says    string
	}{
		"another status":      {respond: webhooktest.Status(503), status: new(503), says: "HTTP status 503"},
		"no response in time": {respond: webhooktest.Blocked(nil), says: "did not answer in time"},
		"no connection":       {url: closed.URL, says: "could not be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.cfg.Timeout = 500 * time.Millisecond
			receiver := webhooktest.NewReceiver(t)
			receiver.Respond(c.respond)
			receiver.URL = cmp.Or(c.url, receiver.URL)
			f.activate(7, receiver)
			f.start()
			id := f.event(7)
			require.Equal(t, "PENDING", f.waitFor(id, 7, attempted(1)).State)
			var status *int
			var problem string
			require.NoError(t, f.pool.QueryRow(t.Context(),
				"SELECT response_status, problem FROM attempts WHERE event_id = $1", id).Scan(&status, &problem))
			require.Equal(t, c.status, status)
			require.Contains(t, problem, c.says)
		})
	}
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
		id := f.event(7)
		due := f.clock.now().Add(30 * time.Second)
		r := f.waitFor(id, 7, func(r row) bool { return !r.Leased && r.Next.Equal(due) })
		require.Equal(t, row{State: "PENDING", Next: r.Next}, r)
	})
	t.Run("the tenants service is down", func(t *testing.T) {
		f := setup(t)
		receiver := f.receiver(7)
		f.directory.Fail(problem.Unavailable())
		s := f.start()
		id := f.event(7)
		r := f.waitFor(id, 7, func(r row) bool { return !r.Leased && r.Next.After(f.clock.now()) })
		require.Zero(t, r.Attempts)
		require.Empty(t, receiver.Arrivals())

		f.directory.Fail(nil)
		f.clock.advance(time.Second)
		s.Wake()
		r = f.waitFor(id, 7, inState("DELIVERED"))
		require.Equal(t, 1, r.Attempts)
	})
}
