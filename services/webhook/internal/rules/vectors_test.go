package rules_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

var write = flag.Bool("write", false, "write the webhooks that the SDKs verify in their tests, instead of comparing them")

// vector is a webhook as it arrives, and whether an SDK accepts it.
type vector struct {
	Name    string            `json:"name"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	// Secrets are those that the receiver accepts, Now is its clock in Unix seconds.
	Secrets []string `json:"secrets"`
	Now     int64    `json:"now"`
	Valid   bool     `json:"valid"`
}

const (
	signedAt = 1767225600
	sdkBody  = `{"id":"` + id + `","type":"order.message_posted","occurredAt":"2026-01-01T00:00:00.123456Z","environment":"sandbox",` +
		`"data":{"orderId":"018f0000-0000-7000-8000-000000000002","externalOrderId":null,"message":{"body":"Ærø ☃ \u2028"}}}`
	tooOld = 301
)

// arriving is the request that the sender makes with the secrets, oldest first.
func arriving(name string, secrets ...string) vector {
	at := time.Unix(signedAt, 0)
	return vector{
		Name: name, Body: sdkBody, Secrets: []string{secret}, Now: signedAt, Valid: true,
		Headers: map[string]string{
			"Content-Type": "application/json", "Service-Event-Id": id, "Service-Signature": rules.Signature(secrets, at, []byte(sdkBody)),
			"Webhook-Id": id, "Webhook-Timestamp": strconv.Itoa(signedAt),
			"Webhook-Signature": rules.StandardSignature(secrets, id, at, []byte(sdkBody)),
		},
	}
}

// but changes the request.
func (v vector) but(change func(*vector)) vector {
	change(&v)
	return v
}

// refused is the request changed so that it must be refused.
func (v vector) refused(change func(*vector)) vector {
	change(&v)
	v.Valid = false
	return v
}

func without(headers ...string) func(*vector) {
	return func(v *vector) {
		for _, header := range headers {
			delete(v.Headers, header)
		}
	}
}

func standardOnly(name string, secrets ...string) vector {
	return arriving(name, secrets...).but(without("Service-Signature"))
}

func vectors() []vector {
	previous, other := strings.Repeat("fedcba9876543210", 4), strings.Repeat("0", 64)
	set := func(header, value string) func(*vector) { return func(v *vector) { v.Headers[header] = value } }
	at := func(seconds int64) func(*vector) { return func(v *vector) { v.Now = signedAt + seconds } }
	knows := func(secrets ...string) func(*vector) { return func(v *vector) { v.Secrets = secrets } }
	body := func(body string) func(*vector) { return func(v *vector) { v.Body = body } }
	return []vector{
		arriving("both forms", secret),
		arriving("Service-Signature only", secret).but(without("Webhook-Id", "Webhook-Timestamp", "Webhook-Signature")),
		standardOnly("Standard Webhooks only", secret),
		arriving("after a rotation, the receiver has the secret of before", secret, previous),
		arriving("after a rotation, the receiver has the new secret", previous, secret),
		standardOnly("Standard Webhooks after a rotation", secret, previous),
		arriving("the receiver accepts several secrets", secret).but(knows(other, secret)),
		standardOnly("Standard Webhooks, the receiver accepts several secrets", secret).but(knows(other, secret)),
		arriving("five minutes old", secret).but(at(tooOld - 1)),
		arriving("five minutes ahead", secret).but(at(1 - tooOld)),

		arriving("too old", secret).refused(at(tooOld)),
		arriving("too far ahead", secret).refused(at(-tooOld)),
		standardOnly("Standard Webhooks, too old", secret).refused(at(tooOld)),
		standardOnly("Standard Webhooks, too far ahead", secret).refused(at(-tooOld)),
		arriving("another secret", other).refused(knows(secret)),
		standardOnly("Standard Webhooks, another secret", other).refused(knows(secret)),
		arriving("a byte more", secret).refused(body(sdkBody + " ")),
		standardOnly("Standard Webhooks, a byte more", secret).refused(body(sdkBody + "\n")),
		arriving("parsed and written again", secret).refused(body(strings.ReplaceAll(sdkBody, `\u2028`, "\u2028"))),
		standardOnly("Standard Webhooks, another id", secret).refused(set("Webhook-Id", "018f0000-0000-7000-8000-000000000009")),
		standardOnly("Standard Webhooks, another time", secret).refused(set("Webhook-Timestamp", strconv.Itoa(signedAt+1))),
		standardOnly("Standard Webhooks without an id", secret).refused(without("Webhook-Id")),
		standardOnly("Standard Webhooks of another version", secret).refused(func(v *vector) {
			v.Headers["Webhook-Signature"] = strings.Replace(v.Headers["Webhook-Signature"], "v1,", "v2,", 1)
		}),
		standardOnly("no signature", secret).refused(without("Webhook-Signature")),
		arriving("a wrong Service-Signature beside a right one of Standard Webhooks", secret).refused(func(v *vector) {
			v.Headers["Service-Signature"] = arriving("", other).Headers["Service-Signature"]
		}),
		arriving("a time that is no number", secret).refused(set("Service-Signature", "t=soon,v1="+strings.Repeat("0", 64))),
		arriving("no time", secret).refused(func(v *vector) {
			_, v.Headers["Service-Signature"], _ = strings.Cut(v.Headers["Service-Signature"], ",")
		}),
		arriving("no v1", secret).refused(set("Service-Signature", "t="+strconv.Itoa(signedAt))),
		arriving("another version", secret).refused(func(v *vector) {
			v.Headers["Service-Signature"] = strings.Replace(v.Headers["Service-Signature"], "v1=", "v0=", 1)
		}),
		arriving("an empty Service-Signature", secret).but(without("Webhook-Signature")).refused(set("Service-Signature", "")),
	}
}

// The SDKs verify the webhooks of this file, so that all of them accept the same.
func TestTheSDKsVerifyWhatTheSenderSigns(t *testing.T) {
	t.Parallel()
	want, err := json.MarshalIndent(vectors(), "", "  ")
	require.NoError(t, err)
	want = append(want, '\n')
	path := filepath.FromSlash("../../../../gateway/sdk/testdata/webhooks.json")
	if *write {
		require.NoError(t, os.WriteFile(path, want, 0o600))
	}
	committed, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(committed), "run `go test ./services/webhook/internal/rules -run SDKs -write`")
}
