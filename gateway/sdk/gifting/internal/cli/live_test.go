package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const liveSecret = "7f3a1c5e9b2d4f6081a3c5e7092b4d6f8e0a2c4e6b8d0f1a3c5e7092b4d6f81a"

// liveFindings runs doctor --live against a receiver, and returns the details of the lines by their names and verdicts.
func liveFindings(t *testing.T, answers map[string]string, receive func(body []byte, h http.Header) int) map[string]string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.WriteHeader(receive(body, req.Header))
	}))
	t.Cleanup(receiver.Close)
	for call, answer := range map[string]string{
		"GET /me":                  strings.Replace(me, `"webhookUrl":null`, `"webhookUrl":"https://a.b"`, 1),
		"POST /webhooks:test":      `{"responseStatus":204,"error":null}`,
		"GET /webhooks/health":     `{"state":"HEALTHY","pending":0}`,
		"GET /webhooks/deliveries": `{"items":[{"type":"order.created","attempts":[{}]}],"nextCursor":null}`,
	} {
		if answers[call] == "" {
			answers[call] = answer
		}
	}
	u := newAPI(t, answers).user()
	u.env["GIFTING_WEBHOOK_SECRET"] = liveSecret
	got := u.run(t, "doctor", "--live", "--forward-to", receiver.URL, "-o", "json")
	var all []struct{ Check, Verdict, Detail string }
	require.NoError(t, json.Unmarshal([]byte(got.out), &all), got.err)
	found := map[string]string{}
	for _, f := range all {
		if name, live := strings.CutPrefix(f.Check, "live: "); live {
			found[name] = f.Verdict + ": " + f.Detail
		}
	}
	return found
}

// careful is a receiver that does as the guide says.
func careful(body []byte, h http.Header) int {
	if _, err := gifting.Verify(body, h, liveSecret); err != nil {
		return http.StatusUnauthorized
	}
	return http.StatusNoContent
}

func TestDoctorGoesThroughTheLinesOfGoingLive(t *testing.T) {
	t.Parallel()
	found := liveFindings(t, map[string]string{}, careful)
	require.Equal(t, "FAILED: the key is of the sandbox", found["environment"])
	require.Equal(t, "ok: right ones are accepted, also of two; wrong and old ones are refused", found["signature"])
	require.Equal(t, "ok: an event of an unknown type is accepted", found["additions"])
	require.Regexp(t, `^ok: the ping took \d+`, found["receiver"])
	require.Equal(t, "ok: you reach the API, and it reaches your receiver", found["firewall"])
	require.Equal(t, "warning: none of the last deliveries was retried", found["restart"])
	require.Equal(t, "ok: your tenant requires none", found["approval"])
	require.Regexp(t, `^ask: `, found["money"])

	found = liveFindings(t, map[string]string{
		"GET /me": strings.NewReplacer(`"sandbox"`, `"production"`,
			`"approvalRequired":false`, `"approvalRequired":true`).Replace(me),
		"GET /webhooks/deliveries": `{"items":[{"type":"order.created","attempts":[{},{}]}],"nextCursor":null}`,
	}, careful)
	require.Equal(t, "FAILED: the address does not begin with https", found["environment"])
	require.Regexp(t, `^ask: who approves`, found["approval"])
	require.Equal(t, "ok: order.created was delivered at attempt 2", found["restart"])
	require.Regexp(t, `^ask: does your receiver answer`, found["receiver"], "the key has no webhook URL")
	require.Regexp(t, `^ask: you reach the API`, found["firewall"])
}

func TestDoctorFindsWhatAReceiverDoesWrong(t *testing.T) {
	t.Parallel()
	accept := func(ok bool) int { return map[bool]int{true: http.StatusNoContent, false: http.StatusUnauthorized}[ok] }
	for want, receive := range map[string]func(body []byte, h http.Header) int{
		"a right one was answered HTTP 401": func([]byte, http.Header) int { return accept(false) },
		"a wrong one was answered HTTP 204": func([]byte, http.Header) int { return accept(true) },
		"one of a body with spaces was answered HTTP 401": func(body []byte, h http.Header) int {
			var parsed any
			_ = json.Unmarshal(body, &parsed)
			return accept(strings.Contains(string(body), `"data":{}`) && careful(body, h) == http.StatusNoContent)
		},
		"one of two, as during a rotation, was answered HTTP 401": func(body []byte, h http.Header) int {
			return accept(strings.Count(h.Get("Service-Signature"), "v1=") == 1 && careful(body, h) == http.StatusNoContent)
		},
		"an old one was answered HTTP 204": func(body []byte, h http.Header) int {
			_, err := gifting.Verifier{Secrets: []string{liveSecret}, Tolerance: time.Hour}.Verify(body, h)
			return accept(err == nil)
		},
	} {
		require.Equal(t, "FAILED: "+want, liveFindings(t, map[string]string{}, receive)["signature"])
	}
	found := liveFindings(t, map[string]string{}, func(body []byte, h http.Header) int {
		return accept(!strings.Contains(string(body), "later") && careful(body, h) == http.StatusNoContent)
	})
	require.Contains(t, found["additions"], "FAILED: an event of a type that is newer than your receiver was refused")
}
