package rules_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestTheIDOfADeliveryNamesAnEventForOneKey(t *testing.T) {
	t.Parallel()
	event := uuid.Must(uuid.NewV7())
	seen := map[string]bool{event.String(): true}
	for key := range int32(100) {
		id := uuid.MustParse(rules.DeliveryID(key, event.String()))
		require.Equal(t, event.String(), rules.EventOfDelivery(key, id))
		require.Equal(t, event.Version(), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		require.Equal(t, rules.EventAt(event.String()), rules.EventAt(id.String()))
		require.False(t, seen[id.String()], "every key has another id, and none is the event's")
		seen[id.String()] = true
	}
	require.NotEqual(t, event.String(), rules.EventOfDelivery(8, uuid.MustParse(rules.DeliveryID(7, event.String()))))
}

func TestTheTimeOfAChangeIsThatOfItsEnvelope(t *testing.T) {
	t.Parallel()
	id := uuid.Must(uuid.NewV7()).String()
	at := time.Date(2026, 3, 14, 9, 21, 53, 123456000, time.UTC)
	for _, head := range []string{
		`{"id":"x","type":"order.created","occurredAt":"2026-03-14T09:21:53.123456Z","environment":"sandbox","data":{"na`,
		`{"id":"x","type":"occurredAt","occurredAt":"2026-03-14T09:21:53.123456Z"`,
	} {
		require.Equal(t, at, rules.OccurredAt(id, []byte(head)), head)
	}
	for _, head := range []string{"", "twin", `{"id":"x"}`, `{"occurredAt":7,"x":1}`, `{"occurredAt":"`, `{"occurredAt":"noon"}`} {
		require.Equal(t, rules.EventAt(id), rules.OccurredAt(id, []byte(head)), head)
	}
}

func TestEveryStatusBut2xxIsAFailure(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 204, 299} {
		o := rules.Answered(status)
		require.True(t, o.Delivered(), "%d", status)
		require.Equal(t, "2xx", o.Class)
		require.Empty(t, o.Problem)
	}
	for _, status := range []int{199, 300, 302, 404, 410, 429, 500, 599} {
		o := rules.Answered(status)
		require.False(t, o.Delivered(), "%d", status)
		require.Equal(t, fmt.Sprintf("The webhook responded with HTTP status %d.", status), o.Problem)
	}
}

func TestFailuresWithoutAResponseAreDistinguished(t *testing.T) {
	t.Parallel()
	dialed := func(err error) error {
		return &url.Error{Op: "Post", URL: "https://10.1.2.3/hook", Err: &net.OpError{
			Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 443}, Err: err,
		}}
	}
	alert := &net.OpError{Op: "remote error", Err: tls.AlertError(40)}
	forbidden := fmt.Errorf("%w: 10.1.2.3", netguard.ErrForbiddenAddress)
	unknown := &net.DNSError{Err: "no such host", IsNotFound: true}
	refused := &net.DNSError{Err: "refused", Server: "10.0.0.2:53", IsTemporary: true}
	silent := &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	const unresolved = "host name could not be resolved"
	for name, c := range map[string]struct {
		err   error
		says  string
		ours  bool
		class string
	}{
		"no route":                {dialed(syscall.EHOSTUNREACH), "no route to its address", false, "unreachable"},
		"anything else":           {dialed(errors.New("to 10.1.2.3")), "could not be reached.", false, "unreachable"},
		"a TLS alert":             {&url.Error{Op: "Post", Err: alert}, "the TLS handshake failed", false, "tls"},
		"forbidden address":       {dialed(forbidden), "does not lead to a public address", false, "forbidden_address"},
		"plain HTTP":              {fmt.Errorf("%w: scheme", netguard.ErrURL), "must use HTTPS", false, "forbidden_address"},
		"time-out":                {&url.Error{Op: "Post", Err: context.DeadlineExceeded}, "did not answer in time", false, "timeout"},
		"unknown host name":       {dialed(unknown), unresolved, false, "dns"},
		"resolver out of reach":   {dialed(refused), unresolved, true, "dns"},
		"resolver does not reply": {dialed(silent), unresolved, true, "dns"},
		"no file descriptors":     {dialed(syscall.EMFILE), "could not be reached", true, "internal"},
		"we are stopping":         {&url.Error{Op: "Post", Err: context.Canceled}, "could not be reached", true, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			o := rules.Unanswered(c.err)
			require.Contains(t, o.Problem, c.says)
			require.Equal(t, c.ours, o.Internal)
			require.Equal(t, c.class, o.Class)
			require.Zero(t, o.Status)
			require.False(t, o.Delivered())
			require.NotContains(t, o.Problem, "10.", "no address of our network is shown")
		})
	}
}

const justBelowOne = 1 - 1e-9

func TestRetriesFollowTheTable(t *testing.T) {
	t.Parallel()
	table := []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
	for i, want := range table {
		shortest, ok := rules.RetryDelay(i+1, 0)
		require.True(t, ok)
		require.Equal(t, want, shortest)

		longest, ok := rules.RetryDelay(i+1, justBelowOne)
		require.True(t, ok)
		require.Greater(t, longest, want)
		require.LessOrEqual(t, longest, want+want/10)
	}
	for _, attempts := range []int{-1, 0, 8, 9} {
		_, ok := rules.RetryDelay(attempts, 0)
		require.False(t, ok, "after %d attempts", attempts)
	}
}

func TestAnOutcomeDecidesTheNextState(t *testing.T) {
	t.Parallel()
	ours := rules.Outcome{Problem: "x", Internal: true}
	delivered, failed := rules.Verdict{State: rules.Delivered, Counted: true}, rules.Verdict{State: rules.Failed, Counted: true}
	again := func(wait time.Duration) rules.Verdict {
		return rules.Verdict{State: rules.Pending, Counted: true, Wait: wait}
	}
	for name, c := range map[string]struct {
		outcome  rules.Outcome
		attempts int
		age      time.Duration
		want     rules.Verdict
	}{
		"2xx is delivered":                     {rules.Answered(204), 0, time.Hour, delivered},
		"2xx is delivered the last time":       {rules.Answered(200), 7, time.Hour, delivered},
		"another status is tried again":        {rules.Answered(500), 0, time.Hour, again(time.Minute)},
		"the seventh waits twelve hours":       {rules.Answered(500), 6, time.Hour, again(12 * time.Hour)},
		"the eighth failure is the last":       {rules.Answered(500), 7, time.Hour, failed},
		"a failure on our side does not count": {ours, 7, time.Hour, rules.Verdict{State: rules.Pending, Wait: 30 * time.Second}},
		"but not forever":                      {ours, 3, 72 * time.Hour, again(time.Hour)},
		"and then it ends like any other":      {ours, 7, 72 * time.Hour, failed},
	} {
		t.Run(name, func(t *testing.T) {
			p := rules.Progress{Attempts: c.attempts, Age: c.age}
			require.Equal(t, c.want, rules.Judge(c.outcome, p, 0))
		})
	}
}

func TestFirstEventAtBoundsTheEventsOfAMillisecond(t *testing.T) {
	t.Parallel()
	for range 100 {
		before := time.Now()
		id := uuid.Must(uuid.NewV7()).String()
		after := time.Now()
		require.LessOrEqual(t, rules.FirstEventAt(before), id)
		require.Less(t, id, rules.FirstEventAt(after.Add(time.Millisecond)))
	}
	require.Equal(t, "00000000-0000-0000-0000-000000000000", rules.FirstEventAt(time.UnixMilli(0)))
}

func TestEventAtIsTheTimeInAnID(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	at := rules.EventAt(uuid.Must(uuid.NewV7()).String())
	require.False(t, at.Before(before))
	require.False(t, at.After(time.Now()))
	require.Zero(t, rules.EventAt(uuid.NewString()), "an id without a time")
	require.Zero(t, rules.EventAt("no id"))
}

func TestEventAfterIsTheNextID(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0190aaaa-0000-7000-8000-000000000100", rules.EventAfter("0190aaaa-0000-7000-8000-0000000000ff"))
	require.Equal(t, "0190aaaa-0000-7000-8000-000000000002", rules.EventAfter("0190aaaa-0000-7000-8000-000000000001"))
}
