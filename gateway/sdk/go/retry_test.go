package gifting_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func TestACallIsRepeatedWithTheSameKeyAndBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first       func(context.Context) (reply, error)
		least, most time.Duration
	}{
		"no connection":             {broken, 250 * time.Millisecond, 500 * time.Millisecond},
		"no answer in time":         {silent, 15*time.Second + 250*time.Millisecond, 15*time.Second + 500*time.Millisecond},
		"an answer that breaks off": {brokenOff, 250 * time.Millisecond, 500 * time.Millisecond},
		"502 of a proxy":            {answered(502, "<html>Bad gateway</html>"), 250 * time.Millisecond, 500 * time.Millisecond},
		"429":                       {refused(429, "rate_limited", "Retry-After", "7"), 7 * time.Second, 7700 * time.Millisecond},
		"the first request runs": {
			refused(409, "idempotency_request_in_progress", "Retry-After", "2"), 2 * time.Second,
			2200 * time.Millisecond,
		},
		"503 without a time": {refused(503, "service_unavailable"), 250 * time.Millisecond, 500 * time.Millisecond},
		"a time in the past": {
			refused(503, "service_unavailable", "Retry-After", "-1"), 250 * time.Millisecond, 500 * time.Millisecond,
		},
		"a code of a later version":   {refused(599, "new_code"), 250 * time.Millisecond, 500 * time.Millisecond},
		"a problem with a wrong type": {answered(500, `{"code": 1}`), 250 * time.Millisecond, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &stub{script: script{c.first, answered(201, placed, "Idempotent-Replayed", "true")}}
				var response gifting.Response
				order, err := newClient(t, transport).Orders.Place(t.Context(), gifting.PlaceOrderRequest{ExternalOrderID: "1"},
					gifting.WithResponse(&response))
				require.NoError(t, err)
				require.Equal(t, gifting.OrderStatusPROCESSING, order.Status)
				require.Len(t, transport.attempts, 2)
				first, second := transport.attempts[0], transport.attempts[1]
				require.Len(t, first.key, 26, "128 random bits")
				require.Equal(t, first.key, second.key)
				require.Contains(t, first.body, `"externalOrderId":"1"`)
				require.Equal(t, first.body, second.body)
				require.GreaterOrEqual(t, second.at.Sub(first.at), c.least)
				require.LessOrEqual(t, second.at.Sub(first.at), c.most)
				require.Equal(t, 2, response.Attempts)
				require.True(t, response.Replayed())
				require.Equal(t, "request-1", response.RequestID())
			})
		})
	}
}

func TestATimeFarAwayIsNotRepeatedNow(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"99999999", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		transport := &stub{script: script{refused(503, "service_unavailable", "Retry-After", value)}}
		_, err := newClient(t, transport).Account.Me(t.Context())
		problem, ok := gifting.ProblemOf(err)
		require.True(t, ok)
		require.Equal(t, 24*time.Hour, problem.RetryAfter)
		require.Len(t, transport.attempts, 1, value)
	}
}

func TestARefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 302} {
		transport := &stub{script: script{refused(status, "a_code", "Retry-After", "1")}}
		_, err := newClient(t, transport).Orders.Cancel(t.Context(), "1", gifting.CancelOrderRequest{Reason: "x"})
		problem, ok := gifting.ProblemOf(err)
		require.True(t, ok)
		require.Equal(t, status, problem.Status)
		require.Len(t, transport.attempts, 1, status)
	}
}

func TestAnAnswerThatIsNotOfTheAPIIsNotRepeated(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "<html>A login page</html>")}}
	_, err := newClient(t, transport).Account.Me(t.Context())
	require.ErrorContains(t, err, "GET /me: the response is not what the API answers")
	require.Len(t, transport.attempts, 1)
}

func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	t.Run("their number", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			transport := &stub{script: script{refused(503, "service_unavailable")}}
			_, err := newClient(t, transport, gifting.WithMaxAttempts(3)).Orders.Place(t.Context(), gifting.PlaceOrderRequest{},
				gifting.WithIdempotencyKey("mine"))
			var failed *gifting.CallError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, 3, failed.Attempts)
			require.Equal(t, "mine", failed.IdempotencyKey)
			require.True(t, gifting.HasCode(err, gifting.CodeServiceUnavailable))
			require.Len(t, transport.attempts, 3)
		})
	})
	t.Run("their waits, which grow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			transport := &stub{script: script{broken}}
			_, err := newClient(t, transport, gifting.WithMaxAttempts(9)).Account.Me(t.Context())
			require.ErrorIs(t, err, errBroken)
			require.Len(t, transport.attempts, 9)
			for i := range 8 {
				most := min(500*time.Millisecond<<i, 20*time.Second)
				wait := transport.attempts[i+1].at.Sub(transport.attempts[i].at)
				require.LessOrEqual(t, wait, most)
				require.GreaterOrEqual(t, wait, most/2)
			}
		})
	})
	t.Run("their whole time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := newClient(t, &stub{script: script{silent}}, gifting.WithTotalTimeout(20*time.Second)).Account.Me(t.Context())
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 20*time.Second, time.Since(began))
		})
	})
	t.Run("the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := newClient(t, &stub{script: script{silent}}).Account.Me(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Error(t, ctx.Err())
		})
	})
	t.Run("a context that is cancelled during a wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began := time.Now()
			_, err := newClient(t, &stub{script: script{refused(429, "rate_limited", "Retry-After", "60")}}).Account.Me(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.True(t, gifting.HasCode(err, gifting.CodeRateLimited), "the reason for the wait")
			require.Equal(t, time.Second, time.Since(began))
		})
	})
}

func TestEachCallHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "{}")}}
	client := newClient(t, transport)
	for range 2 {
		_, err := client.Webhooks.Test(t.Context())
		require.NoError(t, err)
	}
	_, err := client.Account.Me(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, transport.attempts[0].key, transport.attempts[1].key)
	require.Empty(t, transport.attempts[2].key, "a read needs none")
}

func TestAServerThatNobodyTrustsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key")
	require.NoError(t, err)
	_, err = client.Account.Me(t.Context())
	require.ErrorContains(t, err, "certificate")
	var failed *gifting.CallError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.Attempts)
	require.Zero(t, requests)
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.URL.Path)
		http.Redirect(w, req, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key", gifting.WithHTTPClient(server.Client()))
	require.NoError(t, err)
	_, err = client.Webhooks.Test(t.Context())
	require.ErrorContains(t, err, "Temporary Redirect")
	require.Equal(t, []string{"/webhooks:test"}, asked)
}
