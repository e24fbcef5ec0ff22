package sender

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
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
		require.Equal(t, "Partner-Gifting-Webhooks/1", a.Header.Get("User-Agent"))
		at, _, _ := strings.Cut(a.Header.Get("Service-Signature"), ",")
		require.Equal(t, "t="+a.Header.Get("Webhook-Timestamp"), at)
		times[a.Header.Get("Webhook-Timestamp")], signed[at] = true, true
	}
	require.Len(t, times, 8, "each attempt is signed with its own time")
	require.Len(t, signed, 8, "the t of each Service-Signature differs")
}

func TestNoResponseInTimeIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Timeout = 500 * time.Millisecond
	f.receiver(7, webhooktest.Blocked(nil))
	f.start()
	id := f.event(7)
	require.Equal(t, "PENDING", f.waitFor(id, 7, attempted(1)).State)
	var status *int
	var problem string
	require.NoError(t, f.pool.QueryRow(t.Context(),
		"SELECT response_status, problem FROM attempts WHERE event_id = $1", id).Scan(&status, &problem))
	require.Nil(t, status)
	require.Contains(t, problem, "did not answer in time")
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

func TestAResultTheDatabaseRefusesIsIsolatedFromOthers(t *testing.T) {
	t.Parallel()
	st := store.New(pgtest.New(t, store.Migrations()))
	_, err := st.FanOut(t.Context(), 0, []store.Event{newEvent(1, 2, 3)})
	require.NoError(t, err)
	var batch []*pendingResult
	for _, d := range claimDue(t, st, time.Minute) {
		batch = append(batch, &pendingResult{Result: store.Result{
			Delivery: d, Verdict: rules.Verdict{State: rules.Failed, Counted: true},
			Attempt: store.Attempt{StartedAt: time.Now(), Outcome: rules.Answered(500)},
		}})
	}
	require.Len(t, batch, 3)
	batch[1].Delivery.Token = uuid.NewString()
	batch[2].Attempt.Outcome.Problem = "no text: \x00"

	results := newResults(st)
	require.True(t, results.Isolate(results.Process(t.Context(), batch)))
	require.NoError(t, results.Process(t.Context(), batch[:2]))
	require.Equal(t, []bool{false, true}, []bool{batch[0].leaseLost, batch[1].leaseLost})
}

func TestAResultWhoseCommitWasNotAnsweredIsCountedByItsOutcome(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s, err := New(Deps{Store: f.store, Now: f.clock.now, Telemetry: f.tel.Telemetry}, f.cfg)
	require.NoError(t, err)
	calls, record := 0, s.results.Process
	s.results.Process = func(ctx context.Context, batch []*pendingResult) error {
		calls++
		err := record(ctx, batch)
		if calls == 1 {
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
		return err
	}
	f.event(7)
	d := leasedDelivery{Delivery: claimDue(t, f.store, f.cfg.Lease)[0], leaseEnd: f.clock.now().Add(f.cfg.Lease)}
	verdict := rules.Verdict{State: rules.Delivered, Counted: true}
	s.record(t.Context(), d, verdict, store.Attempt{StartedAt: f.clock.now(), Outcome: rules.Answered(200)})
	require.Equal(t, 2, calls)
	counts := f.tel.Values(t, "gifting.webhook.deliveries")
	require.Equal(t, []float64{1, 0}, []float64{counts["outcome=delivered"], counts["outcome=lease_lost"]})
}

// message stores an event with a sealed message for the key, and returns its id and the body that its receiver gets.
func (f *fixture) message(w *seal.EventWriter, key int32) (id string, body []byte) {
	f.t.Helper()
	e := newEvent(key)
	e.Type = "order.message_posted"
	e.Body, body = sealtest.Message(f.t, w, seal.EventRef{TenantID: tenant, EventID: e.ID}, "Happy birthday")
	return f.fanOut(e), body
}

func TestASealedEventIsOpenedWhenItIsSent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7)
	keys := sealtest.Keys("a")
	f.reader = sealtest.Reader(t, keys)
	f.start()
	id, body := f.message(sealtest.Writer(t, keys), 7)
	f.waitFor(id, 7, inState("DELIVERED"))

	arrivals := receiver.Arrivals()
	require.Len(t, arrivals, 1)
	require.True(t, arrivals[0].Verified, "the signature is that of the opened body")
	require.Equal(t, string(body), string(arrivals[0].Body))
	require.NotContains(t, pgtest.Value[string](t, f.pool, "SELECT convert_from(body, 'UTF8') FROM events"), "Happy birthday")
}

func TestAnEventThatCannotBeOpenedWaitsForItsKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7)
	f.reader = sealtest.Reader(t, sealtest.Keys("b"))
	without := f.start()
	id, body := f.message(sealtest.Writer(t, sealtest.Keys("a")), 7)
	other := f.event(7)
	f.waitFor(other, 7, inState("DELIVERED"))
	waiting := f.waitFor(id, 7, func(r row) bool { return r.Next.After(f.clock.now()) && !r.Leased })
	require.Equal(t, row{State: "PENDING", Next: waiting.Next}, waiting, "it has no attempt")
	require.Positive(t, f.tel.Values(t, "gifting.webhook.deliveries")["outcome=unreadable"])
	require.Len(t, receiver.Arrivals(), 1)
	without.stop()
	require.NoError(t, without.wait())

	// Much later than the last attempt of a receiver that fails.
	f.clock.advance(10 * 24 * time.Hour)
	f.reader = sealtest.Reader(t, sealtest.Keys("b", "a"))
	f.start()
	f.waitFor(id, 7, inState("DELIVERED"))
	require.Equal(t, string(body), string(receiver.Arrivals()[1].Body))
}
