package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/cli"
)

func TestMain(m *testing.M) {
	keyring.MockInit() // No test touches the keyring of this machine.
	os.Exit(m.Run())
}

const me = `{"tenant":{"id":"t","name":"Fjord","locales":["en-US"],"currency":"SEK","approvalRequired":false,"customFields":[
	{"id":"f1","type":"TEXT","label":"Team","required":true},
	{"id":"f2","type":"DROPDOWN","label":"Size","required":true,"options":["S","M"]},
	{"id":"f3","type":"CHECKBOX","label":"Agreed","required":true},{"id":"f4","type":"TEXT","label":"Note","required":false}]},
	"key":{"id":1,"name":"CRM","prefix":"gft_sbx_abc","scopes":["CATALOG","ORDERS","PERSONAL_LINKS"],
	"brandIds":null,"webhookUrl":null},
	"environment":"sandbox"}`

// api is a stub of the API. An answer of several words begins with its status.
type api struct {
	*httptest.Server

	lock    sync.Mutex
	answers map[string]string
	sent    []string
	keys    []string
}

func newAPI(t *testing.T, answers map[string]string) *api {
	t.Helper()
	a := &api{answers: answers}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	a.lock.Lock()
	defer a.lock.Unlock()
	call := req.Method + " " + req.URL.Path
	a.sent = append(a.sent, call+" "+req.URL.RawQuery+" "+string(body))
	a.keys = append(a.keys, req.Header.Get("Idempotency-Key"))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "request-1")
	w.Header().Set("Feed-Position", "end")
	answer, known := a.answers[call]
	switch {
	case !known && call == "GET /me":
		answer = me
	case !known:
		w.WriteHeader(http.StatusNotFound)
		answer = `{"title":"Not found","code":"not_found"}`
	case strings.HasPrefix(answer, "409 "), strings.HasPrefix(answer, "401 "), strings.HasPrefix(answer, "400 "):
		w.WriteHeader(map[string]int{"409": 409, "401": 401, "400": 400}[answer[:3]])
		answer = answer[4:]
	}
	_, _ = io.WriteString(w, answer)
}

// ran is what a command did.
type ran struct {
	code     int
	out, err string
}

// user runs commands.
type user struct {
	env       map[string]string
	in        io.Reader
	transport http.RoundTripper
}

func (a *api) user() *user {
	return &user{env: map[string]string{"GIFTING_URL": a.URL, "GIFTING_KEY": "gft_sbx_key"}, in: strings.NewReader("")}
}

func (u *user) run(t *testing.T, args ...string) ran {
	t.Helper()
	return u.runIn(t.Context(), args...)
}

func (u *user) runIn(ctx context.Context, args ...string) ran {
	var out, errs strings.Builder
	code := cli.Run(ctx, args, cli.Streams{
		In: u.in, Out: &out, Err: &errs, Getenv: func(name string) string { return u.env[name] }, Transport: u.transport,
	})
	return ran{code, out.String(), errs.String()}
}

func fileOf(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
