package rules_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	stripe "github.com/stripe/stripe-go/v84/webhook"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// Receivers verify signatures with libraries of others; so do these tests.
func TestVerifiersOfOthersAcceptTheSignatures(t *testing.T) {
	t.Parallel()
	const id = "018f0000-0000-7000-8000-000000000001"
	body := []byte(`{"id":"` + id + `","type":"ping","data":{}}`)
	secret := strings.Repeat("0123456789abcdef", 4)
	now := time.Now()

	t.Run("Service-Signature, by a library for the same scheme", func(t *testing.T) {
		header := rules.Signature(secret, now, body)
		require.NoError(t, stripe.ValidatePayload(body, header, secret))
		require.Error(t, stripe.ValidatePayload(append(body, ' '), header, secret), "another body")
		require.Error(t, stripe.ValidatePayload(body, header, strings.ToUpper(secret)), "another secret")
		require.Error(t, stripe.ValidatePayload(body, rules.Signature(secret, now.Add(-6*time.Minute), body), secret), "too old")
	})
	t.Run("webhook-signature, by the library of Standard Webhooks", func(t *testing.T) {
		verifier, err := standardwebhooks.NewWebhook(base64.StdEncoding.EncodeToString([]byte(secret)))
		require.NoError(t, err)
		headers := http.Header{}
		headers.Set("Webhook-Id", id)
		headers.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		headers.Set("Webhook-Signature", rules.StandardSignature(secret, id, now, body))
		require.NoError(t, verifier.Verify(body, headers))
		require.Error(t, verifier.Verify(append(body, ' '), headers), "another body")
		headers.Set("Webhook-Id", "another")
		require.Error(t, verifier.Verify(body, headers), "another id")
	})
}
