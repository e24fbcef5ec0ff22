package conformance_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// forced is a POST of an order whose answer is forced.
func (f *fixture) forced(t *testing.T, fault string) (request call, externalOrderID string) {
	t.Helper()
	externalOrderID = freshText(20)
	request = f.postCall("/orders", f.body(t, with("externalOrderId", externalOrderID)))
	request.IdempotencyKey = rand.Text()
	request.Header = map[string]string{"Sandbox-Fault": fault}
	return request, externalOrderID
}

func (f *fixture) placed(t *testing.T, externalOrderID string) []record {
	t.Helper()
	return f.list(t, f.key, "/orders?externalOrderId="+externalOrderID)
}

// unanswered sends the request on a connection of its own, because clients repeat requests whose reused connection was closed.
// It returns an error if there was an answer. A proxy in front of a remote platform may answer for it.
func (f *fixture) unanswered(request *http.Request) error {
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil //nolint:nilerr // The connection is to end without an answer.
	}
	if f.Remote() && (response.StatusCode == http.StatusBadGateway || response.StatusCode == http.StatusGatewayTimeout) {
		return response.Body.Close()
	}
	return errors.Join(fmt.Errorf("%w: status %d", errAnswered, response.StatusCode), response.Body.Close())
}

var errAnswered = errors.New("the request was answered")

func testForcedAnswers(t *testing.T, p *platform) {
	f := newFixture(t, p)
	if f.read(t, "/me")["environment"] == "production" {
		leaveOut(t, p, "production forces no answers")
	}
	requirement(t, "FRC-1", func(t *testing.T) {
		for fault, want := range map[string]struct {
			code       problem.Code
			retryAfter string
		}{
			"429": {"rate_limited", "1"}, "500": {"internal_error", ""}, "503": {"service_unavailable", "2"},
			"in-progress": {"idempotency_request_in_progress", "2"},
		} {
			request, id := f.forced(t, fault)
			refused := f.Do(t, request)
			refused.Problem(t, want.code)
			require.Equal(t, "fault "+fault, refused.Header.Get("Sandbox"))
			require.Equal(t, want.retryAfter, refused.Header.Get("Retry-After"))
			require.Empty(t, f.placed(t, id))

			request.Header = nil
			retried := f.Do(t, request)
			require.Equal(t, []any{http.StatusCreated, "", ""},
				[]any{retried.Status, retried.Header.Get("Idempotent-Replayed"), retried.Header.Get("Sandbox")})
			require.Len(t, f.placed(t, id), 1)
		}
	})
	requirement(t, "FRC-2", func(t *testing.T) {
		request, id := f.forced(t, "lost")
		require.NoError(t, f.unanswered(f.Request(t, request)))
		f.requireStored(t, request, id)
	})
	requirement(t, "FRC-3", func(t *testing.T) {
		request, id := f.forced(t, "timeout")
		ctx, cancel := context.WithCancel(t.Context())
		held, done := f.Request(t, request).WithContext(ctx), make(chan error, 1)
		go func() { done <- f.unanswered(held) }()
		require.Eventually(t, func() bool { return len(f.placed(t, id)) == 1 }, 20*time.Second, 50*time.Millisecond)
		f.requireStored(t, request, id)
		require.Empty(t, done, "the first call is still held")
		cancel()
		require.NoError(t, <-done)
	})
	requirement(t, "FRC-4", func(t *testing.T) {
		request, id := f.forced(t, "418")
		f.Do(t, request).Invalid(t, "Sandbox-Fault invalid")
		require.Empty(t, f.placed(t, id))
		read := call{Method: http.MethodGet, Path: "/orders", Key: f.key, Header: map[string]string{"Sandbox-Fault": "in-progress"}}
		f.Do(t, read).Invalid(t, "Sandbox-Fault invalid")
	})
	requirement(t, "FRC-5", func(t *testing.T) {
		request, _ := f.forced(t, "503")
		request.Key = ""
		f.Do(t, request).Problem(t, "invalid_api_key")
	})
}

// requireStored checks that the retry of a forced call gets the answer to what has taken effect.
func (f *fixture) requireStored(t *testing.T, request call, externalOrderID string) {
	t.Helper()
	request.Header = nil
	retried := f.Do(t, request)
	require.Equal(t, []any{http.StatusCreated, "true"}, []any{retried.Status, retried.Header.Get("Idempotent-Replayed")}, retried.Body)
	require.Equal(t, ids(retried.OK(t)), ids(f.placed(t, externalOrderID)...))
}
