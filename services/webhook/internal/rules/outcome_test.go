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

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

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
