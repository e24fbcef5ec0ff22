package gifting_test

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	oldSecret = strings.Repeat("fedcba9876543210", 4)
	newSecret = strings.Repeat("0123456789abcdef", 4)
	signedAt  = time.Unix(1773480413, 0)
	payload   = []byte(eventOf("ping", "{}"))
)

const eventID = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10"

// signed returns the headers of a webhook without those that are named.
func signed(secrets []string, without ...string) http.Header {
	headers := gifting.WebhookHeaders(payload, eventID, signedAt, secrets...)
	for _, name := range without {
		headers.Del(name)
	}
	return headers
}

func TestAWebhookIsVerifiedByEitherForm(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return signedAt.Add(299 * time.Second) }
	for name, headers := range map[string]http.Header{
		"both forms":        signed([]string{newSecret}),
		"Service-Signature": signed([]string{newSecret}, "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"),
		"Standard Webhooks": signed([]string{newSecret}, "Service-Event-Id", "Service-Signature"),
		"during a rotation": signed([]string{oldSecret, newSecret}),
		"spaces, other schemes": withHeader(signed([]string{newSecret}), "Service-Signature",
			"v0=1, "+signed([]string{newSecret}).Get("Service-Signature")),
	} {
		t.Run(name, func(t *testing.T) {
			event, err := gifting.Verifier{Secrets: []string{newSecret}, Now: now}.Verify(payload, headers)
			require.NoError(t, err)
			require.Equal(t, eventID, event.ID)
			require.IsType(t, &gifting.Ping{}, event.Data)
			_, err = gifting.Verifier{Secrets: []string{strings.Repeat("1", 64), newSecret}, Now: now}.Verify(payload, headers)
			require.NoError(t, err, "one of several secrets")
		})
	}
}

func withHeader(headers http.Header, name, value string) http.Header {
	headers.Set(name, value)
	return headers
}

func TestAWebhookThatIsNotSignedRightIsRefused(t *testing.T) {
	t.Parallel()
	good := signed([]string{newSecret})
	decoded, err := hex.DecodeString(newSecret)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		payload []byte
		headers http.Header
		secrets []string
		after   time.Duration
		want    error
	}{
		"another body":          {append(payload, ' '), good, []string{newSecret}, 0, gifting.ErrSignature},
		"another secret":        {payload, good, []string{oldSecret}, 0, gifting.ErrSignature},
		"the decoded secret":    {payload, good, []string{string(decoded)}, 0, gifting.ErrSignature},
		"an empty secret":       {payload, signed([]string{""}), []string{""}, 0, gifting.ErrSecret},
		"no secret":             {payload, good, nil, 0, gifting.ErrSecret},
		"a line break after it": {payload, good, []string{newSecret + "\n"}, 0, gifting.ErrSecret},
		"too old":               {payload, good, []string{newSecret}, 301 * time.Second, gifting.ErrTimestamp},
		"from the future":       {payload, good, []string{newSecret}, -301 * time.Second, gifting.ErrTimestamp},
		"no header":             {payload, http.Header{}, []string{newSecret}, 0, gifting.ErrNoSignature},
		"an empty header": {
			payload, withHeader(signed([]string{newSecret}), "Service-Signature", ""), []string{newSecret}, 0,
			gifting.ErrNoSignature,
		},
		"no time": {
			payload, http.Header{"Service-Signature": {"v1=00"}}, []string{newSecret}, 0, gifting.ErrNoSignature,
		},
		"no hex": {
			payload, http.Header{"Service-Signature": {"t=1,v1=x"}}, []string{newSecret}, 0, gifting.ErrNoSignature,
		},
		"half a signature": {
			payload, http.Header{"Service-Signature": {good.Get("Service-Signature")[:30]}}, []string{newSecret}, 0,
			gifting.ErrSignature,
		},
		"another time": {
			payload, http.Header{"Service-Signature": {"t=1773480414" + good.Get("Service-Signature")[12:]}},
			[]string{newSecret}, 0, gifting.ErrSignature,
		},
		"Standard, another id": {
			payload, withHeader(signed([]string{newSecret}, "Service-Signature"), "Webhook-Id", "x"),
			[]string{newSecret}, 0, gifting.ErrSignature,
		},
		"Standard, another version": {
			payload, withHeader(signed([]string{newSecret}, "Service-Signature"), "Webhook-Signature", "v2,AA=="),
			[]string{newSecret}, 0, gifting.ErrNoSignature,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gifting.Verifier{
				Secrets: c.secrets,
				Now:     func() time.Time { return signedAt.Add(c.after) },
			}.Verify(c.payload, c.headers)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err = gifting.Verify(payload, good, newSecret+" ")
	require.ErrorContains(t, err, "the webhook secret has a line break or a space, perhaps pasted with it")
	_, err = gifting.Verify(payload, good)
	require.ErrorContains(t, err, "the webhook secret is empty: is the variable set from which it comes?")
	_, err = gifting.Verify(payload, good, newSecret)
	require.ErrorIs(t, err, gifting.ErrTimestamp, "by the real clock")
	fresh := gifting.WebhookHeaders(payload, eventID, time.Now(), newSecret)
	_, err = gifting.Verify(payload, fresh, newSecret)
	require.NoError(t, err)
}

// Every SDK accepts and refuses the same requests, which the platform's own signer has signed.
func TestTheSDKsAgree(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../testdata/webhooks.json")
	require.NoError(t, err)
	var cases []struct {
		Name    string            `json:"name"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Secrets []string          `json:"secrets"`
		Now     int64             `json:"now"`
		Valid   bool              `json:"valid"`
	}
	require.NoError(t, json.Unmarshal(content, &cases))
	require.Greater(t, len(cases), 20)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			headers := http.Header{}
			for name, value := range c.Headers {
				headers.Set(name, value)
			}
			verifier := gifting.Verifier{Secrets: c.Secrets, Now: func() time.Time { return time.Unix(c.Now, 0) }}
			event, err := verifier.Verify([]byte(c.Body), headers)
			require.Equal(t, c.Valid, err == nil, err)
			if c.Valid {
				require.Equal(t, c.Headers["Service-Event-Id"], event.ID)
			}
		})
	}
}

// The expected values were computed with OpenSSL. The platform's signer has a test with the same ones.
func TestTheHeadersAreThoseOfThePlatform(t *testing.T) {
	t.Parallel()
	const id = "018f0000-0000-7000-8000-000000000001"
	headers := gifting.WebhookHeaders([]byte(`{"id":"`+id+`","type":"ping","data":{}}`), id, time.Unix(1767225600, 999_999_000),
		newSecret)
	require.Equal(t, http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {"Partner-Gifting-Webhooks/1"},
		"Service-Event-Id":  {id},
		"Service-Signature": {"t=1767225600,v1=9fde9d9e46d555885e567a1702771c0513ea2155d474ff782a0e9d6d7ddb4abb"},
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {"1767225600"},
		"Webhook-Signature": {"v1,z2eLRDuxl1rw0BJPdij0XLlznUlAZwMVgSQk/XKd8Yk="},
	}, headers)
}
