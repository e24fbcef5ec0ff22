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
	secret   = strings.Repeat("0123456789abcdef", 4)
	signedAt = time.Unix(1773480413, 0)
	payload  = []byte(eventOf("ping", "{}"))
)

const eventID = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10"

func signed() http.Header { return gifting.WebhookHeaders(payload, eventID, signedAt, secret) }

func TestAWebhookThatIsSignedRightIsItsEvent(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return signedAt.Add(299 * time.Second) }
	event, err := gifting.Verifier{Secrets: []string{strings.Repeat("1", 64), secret}, Now: now}.Verify(payload, signed())
	require.NoError(t, err)
	require.Equal(t, eventID, event.ID)
	require.IsType(t, &gifting.Ping{}, event.Data)
	fresh := gifting.WebhookHeaders(payload, eventID, time.Now(), secret)
	_, err = gifting.Verify(payload, fresh, secret)
	require.NoError(t, err, "by the real clock")
	_, err = gifting.Verify(payload, signed(), secret)
	require.ErrorIs(t, err, gifting.ErrTimestamp)
}

func TestTheReasonOfARefusalIsKnown(t *testing.T) {
	t.Parallel()
	decoded, err := hex.DecodeString(secret)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		headers http.Header
		secrets []string
		after   time.Duration
		want    error
	}{
		"another secret":     {signed(), []string{strings.Repeat("1", 64)}, 0, gifting.ErrSignature},
		"the decoded secret": {signed(), []string{string(decoded)}, 0, gifting.ErrSignature},
		"half a signature": {
			http.Header{"Service-Signature": {signed().Get("Service-Signature")[:30]}}, []string{secret}, 0, gifting.ErrSignature,
		},
		"an empty secret":       {signed(), []string{""}, 0, gifting.ErrSecret},
		"no secret":             {signed(), nil, 0, gifting.ErrSecret},
		"a line break after it": {signed(), []string{secret + "\n"}, 0, gifting.ErrSecret},
		"too old":               {signed(), []string{secret}, 301 * time.Second, gifting.ErrTimestamp},
		"from the future":       {signed(), []string{secret}, -301 * time.Second, gifting.ErrTimestamp},
		"no header":             {http.Header{}, []string{secret}, 0, gifting.ErrNoSignature},
		"no time":               {http.Header{"Service-Signature": {"v1=00"}}, []string{secret}, 0, gifting.ErrNoSignature},
		"no hex":                {http.Header{"Service-Signature": {"t=1,v1=x"}}, []string{secret}, 0, gifting.ErrNoSignature},
	} {
		t.Run(name, func(t *testing.T) {
			now := func() time.Time { return signedAt.Add(c.after) }
			_, err := gifting.Verifier{Secrets: c.secrets, Now: now}.Verify(payload, c.headers)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err = gifting.Verify(payload, signed(), secret+" ")
	require.ErrorContains(t, err, "the webhook secret has a line break or a space, perhaps pasted with it")
	_, err = gifting.Verify(payload, signed())
	require.ErrorContains(t, err, "the webhook secret is empty: is the variable set from which it comes?")
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

// The expected values were computed with OpenSSL.
func TestTheHeadersAreThoseOfThePlatform(t *testing.T) {
	t.Parallel()
	const id = "018f0000-0000-7000-8000-000000000001"
	headers := gifting.WebhookHeaders([]byte(`{"id":"`+id+`","type":"ping","data":{}}`), id, time.Unix(1767225600, 999_999_000),
		secret)
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
