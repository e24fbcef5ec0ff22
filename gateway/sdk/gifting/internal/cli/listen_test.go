package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const feedPage = `{"items":[
	{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10","type":"order.created","occurredAt":"2026-01-01T00:00:00Z",
	"environment":"sandbox","data":{"id":"o1","status":"PROCESSING"}},
	{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e11","type":"order.status_changed","occurredAt":"2026-01-01T00:00:01Z",
	"environment":"sandbox","data":{"order":{"id":"o1","status":"SENT"},"previousStatus":"PROCESSING"}}],
	"nextCursor":"c2"}`

// held answers the feed once, and holds calls after that.
func held(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Feed-Position", "end")
		if req.URL.Query().Get("after") == "c2" {
			<-req.Context().Done()
			return
		}
		_, _ = io.WriteString(w, feedPage)
	}))
	t.Cleanup(server.Close)
	return server
}

// receiver verifies what arrives, and answers the first request of an event with 500.
type receiver struct {
	*httptest.Server

	secret  string
	arrived chan string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{secret: strings.Repeat("1", 64), arrived: make(chan string, 10)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		event, err := gifting.Verify(body, req.Header, r.secret)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.arrived <- event.ID
		if event.Type == gifting.EventOrderStatusChanged {
			http.Error(w, "out of order\n2026-01-01T00:00:00Z  delivered", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func TestListenForwardsSignedEventsAndSendsThemAgain(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, cancel := context.WithCancel(t.Context())
	terminal, typed := io.Pipe()
	u := &user{
		env: map[string]string{"GIFTING_URL": held(t).URL, "GIFTING_KEY": "key", "GIFTING_WEBHOOK_SECRET": r.secret}, in: terminal,
	}
	done := make(chan ran)
	go func() {
		done <- u.runIn(ctx, "listen", "--from-beginning", "--forward-to", strings.TrimPrefix(r.URL, "http://"))
	}()
	require.Equal(t, "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10", <-r.arrived)
	require.Equal(t, "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e11", <-r.arrived)
	for line, want := range map[string]string{"r\n": "11", "r 0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10\n": "10"} {
		_, err := io.WriteString(typed, line)
		require.NoError(t, err)
		require.Equal(t, "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e"+want, <-r.arrived)
	}
	_, err := io.WriteString(typed, "x\n\nr nothing\nr\n")
	require.NoError(t, err)
	<-r.arrived
	cancel()
	got := <-done
	require.Equal(t, 130, got.code)
	require.Regexp(t, `(?m)^2026-01-01T00:00:00Z  order\.created  \S+  o1  PROCESSING  delivered: HTTP 200 \(\d+ ms\)$`, got.out)
	require.Regexp(t, `(?m)order\.status_changed .* PROCESSING → SENT  NOT delivered, the platform would try again: `+
		`the receiver answered HTTP 500 \(\d+ ms\)\n  out of order\n  2026-01-01T00:00:00Z  delivered$`, got.out)
	require.Contains(t, got.err, "Type r to send")
	require.Contains(t, got.err, "To go on from here: --after c2")
	require.NotContains(t, got.err, "Signing secret")
}

func TestListenMakesASecretAndChoosesTypes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var kinds []string
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		kinds = append(kinds, req.Header.Get("Service-Event-Id"))
		cancel()
	}))
	t.Cleanup(r.Close)
	u := &user{env: map[string]string{"GIFTING_URL": held(t).URL, "GIFTING_KEY": "key"}, in: strings.NewReader("")}
	got := u.runIn(ctx, "listen", "--from-beginning", "--type", "order.status_changed", "-o", "json", "--forward-to", r.URL)
	require.Equal(t, 130, got.code)
	require.Regexp(t, `(?m)^Signing secret: [0-9a-f]{64}$`, got.err)
	require.Equal(t, []string{"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e11"}, kinds)
	for _, address := range []string{
		"", "ftp://x", ":", "http://example.com", "http://10.0.0.1:3000", "http://localhost.example.com",
	} {
		require.Equal(t, 2, u.run(t, "listen", "--forward-to", address).code, address)
	}
	require.Equal(t, 2, u.run(t, "listen", "--forward-to", "localhost:1", "--secret-file", "/none").code)
}

// Events have claim URLs, so only this machine gets them without TLS.
func TestAnAddressIsCompleted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"3000": "http://localhost:3000", ":3000": "http://localhost:3000", "3000/webhooks": "http://localhost:3000/webhooks",
		"localhost": "http://localhost", "app.localhost:3000/a": "https://app.localhost:3000/a", "127.0.0.2:80": "http://127.0.0.2:80",
		"[::1]:3000": "http://[::1]:3000", "example.com": "https://example.com", "10.0.0.1:3000": "https://10.0.0.1:3000",
		"localhost@example.com": "https://localhost@example.com", "http://localhost:1": "http://localhost:1",
		"https://example.com/a": "https://example.com/a",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		u := newAPI(t, map[string]string{"GET /events": feedPage}).user()
		u.transport = &ending{cancel: cancel, after: 1}
		require.Contains(t, u.runIn(ctx, "listen", "--from-beginning", "--forward-to", text).err, "Events go to "+want+".", text)
	}
}

func TestTailPrintsEvents(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"GET /events": feedPage})
	for output, want := range map[string]string{
		"json":  `{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10","type":"order.created"`,
		"table": "2026-01-01T00:00:00Z  order.created  0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10  o1  PROCESSING\n",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		u := server.user()
		u.transport = &ending{cancel: cancel, after: 2}
		got := u.runIn(ctx, "events", "tail", "--from-beginning", "-o", output, "--type", "order.created")
		require.Equal(t, 130, got.code)
		require.True(t, strings.HasPrefix(got.out, want), got.out)
		require.NotContains(t, got.out, "status_changed")
	}
}

// ending is a transport that ends the context at a call.
type ending struct {
	cancel context.CancelFunc
	after  int
}

// RoundTrip implements http.RoundTripper.
func (e *ending) RoundTrip(req *http.Request) (*http.Response, error) {
	e.after--
	if e.after == 0 {
		e.cancel()
	}
	return http.DefaultTransport.RoundTrip(req)
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	withWebhook := strings.Replace(me, `"webhookUrl":null`, `"webhookUrl":"https://shop.example.com"`, 1)
	healthy := map[string]string{
		"GET /me": withWebhook, "POST /webhooks:test": `{"responseStatus":204,"error":null}`,
		"GET /webhooks/health": `{"state":"HEALTHY","pending":0}`,
	}
	r := newReceiver(t)
	accepting := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(accepting.Close)
	for name, c := range map[string]struct {
		answers  map[string]string
		receiver string
		code     int
		want     string
	}{
		"nothing":             {healthy, r.URL, 0, `signature +ok +a right one is accepted, a wrong one refused with HTTP 401`},
		"no receiver to test": {healthy, "", 0, `signature +left out`},
		"no webhook":          {nil, "", 0, `webhook +left out`},
		"a refused key": {
			map[string]string{"GET /me": `401 {"code":"invalid_api_key"}`},
			"", 6,
			`key +FAILED +the API does not accept it`,
		},
		"a receiver that is down": {
			with(healthy, "POST /webhooks:test", `{"responseStatus":null,"error":"could not be reached"}`), "", 6,
			`webhook +FAILED +could not be reached`,
		},
		"an outage": {
			with(healthy, "GET /webhooks/health",
				`{"state":"FAILING","pending":7,"failingSince":"2026-01-01T00:00:00Z","lastError":"HTTP 500"}`),
			"", 6, `deliveries +FAILED +failing since 2026-01-01T00:00:00Z, 7 wait: HTTP 500`,
		},
		"an open door": {healthy, accepting.URL, 6, `signature +FAILED +a wrong signature was accepted`},
		"no receiver":  {healthy, "127.0.0.1:1", 6, `signature +FAILED +no answer`},
		"a missing scope": {
			with(healthy, "GET /me", strings.Replace(withWebhook, `"CATALOG",`, "", 1)), "", 0,
			`scopes +warning +the key lacks CATALOG`,
		},
		"no brand": {
			with(healthy, "GET /me", strings.Replace(withWebhook, `"brandIds":null`, `"brandIds":[]`, 1)), "", 6,
			`brands +FAILED`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newAPI(t, c.answers).user()
			u.env["GIFTING_WEBHOOK_SECRET"] = r.secret
			args := []string{"doctor"}
			if c.receiver != "" {
				args = append(args, "--forward-to", c.receiver)
			}
			got := u.run(t, args...)
			require.Equal(t, c.code, got.code, got.out+got.err)
			require.Regexp(t, c.want, got.out)
			require.Regexp(t, `clock +ok`, got.out)
		})
	}
}

func with(answers map[string]string, call, answer string) map[string]string {
	changed := map[string]string{call: answer}
	for name, other := range answers {
		if name != call {
			changed[name] = other
		}
	}
	return changed
}

func TestDoctorMeasuresTheClock(t *testing.T) {
	t.Parallel()
	u := newAPI(t, nil).user()
	for date, want := range map[string]string{"Thu, 01 Jan 2026 00:00:00 GMT": `clock +FAILED`, "now": `clock +left out`} {
		u.transport = dated(date)
		require.Regexp(t, want, u.run(t, "doctor").out)
	}
}

// dated is a transport that changes the date of answers.
type dated string

// RoundTrip implements http.RoundTripper.
func (d dated) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		resp.Header.Set("Date", string(d))
	}
	return resp, err
}
