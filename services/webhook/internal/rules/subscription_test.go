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

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestAChangeGoesToTheKeysThatMaySeeIt(t *testing.T) {
	t.Parallel()
	const (
		orders = commonv1.Scope_SCOPE_ORDERS
		links  = commonv1.Scope_SCOPE_PERSONAL_LINKS
	)
	key := func(brands []string, scopes ...commonv1.Scope) *tenantsv1.EndpointSubscription {
		return &tenantsv1.EndpointSubscription{KeyId: 7, Scopes: scopes, AllBrands: brands == nil, BrandIds: brands}
	}
	for name, c := range map[string]struct {
		key    *tenantsv1.EndpointSubscription
		typ    string
		origin int32
		want   bool
	}{
		"a key of all brands with the scope":              {key(nil, orders), "order.created", 1, true},
		"a link event with its scope":                     {key(nil, links), "personal_link.claimed", 1, true},
		"not the key whose request made the change":       {key(nil, orders), "order.created", 7, false},
		"not a key with the other scope only":             {key(nil, links), "order.created", 1, false},
		"a key of the brand":                              {key([]string{"b2", "b1"}, orders), "order.updated", 1, true},
		"not a key of other brands":                       {key([]string{"b2"}, orders), "order.updated", 1, false},
		"not a key of no brand":                           {key([]string{}, orders), "order.updated", 1, false},
		"not a type whose prefix has no scope":            {key(nil, orders, links), "invoice.created", 1, false},
		"not a type that only begins like a known prefix": {key(nil, orders, links), "orders.created", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			change := &eventsv1.Change{Type: c.typ, BrandId: "b1", OriginKeyId: c.origin}
			require.Equal(t, c.want, rules.Receives(c.key, change))
		})
	}
}

const (
	id   = "018f0000-0000-7000-8000-000000000001"
	body = `{"id":"018f0000-0000-7000-8000-000000000001","type":"ping","data":{}}`
)

var secret = strings.Repeat("0123456789abcdef", 4)

// Receivers verify signatures with other libraries; so do these tests.
func TestOtherLibrariesAcceptTheSignatures(t *testing.T) {
	t.Parallel()
	body := []byte(body)
	now := time.Now()

	t.Run("Service-Signature, by a library for the same scheme", func(t *testing.T) {
		header := rules.Signature([]string{secret}, now, body)
		require.NoError(t, stripe.ValidatePayload(body, header, secret))
		require.Error(t, stripe.ValidatePayload(append(body, ' '), header, secret), "another body")
		require.Error(t, stripe.ValidatePayload(body, header, strings.ToUpper(secret)), "another secret")
		old := rules.Signature([]string{secret}, now.Add(-6*time.Minute), body)
		require.Error(t, stripe.ValidatePayload(body, old, secret), "too old")
	})
	t.Run("webhook-signature, by the library of Standard Webhooks", func(t *testing.T) {
		verifier, err := standardwebhooks.NewWebhook(base64.StdEncoding.EncodeToString([]byte(secret)))
		require.NoError(t, err)
		headers := http.Header{}
		headers.Set("Webhook-Id", id)
		headers.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		headers.Set("Webhook-Signature", rules.StandardSignature([]string{secret}, id, now, body))
		require.NoError(t, verifier.Verify(body, headers))
		require.Error(t, verifier.Verify(append(body, ' '), headers), "another body")
		headers.Set("Webhook-Id", "another")
		require.Error(t, verifier.Verify(body, headers), "another id")
	})
}

// After a rotation a receiver may know either secret, or both.
func TestOtherLibrariesAcceptASignatureOfEitherSecret(t *testing.T) {
	t.Parallel()
	body, now := []byte(body), time.Now()
	previous := strings.Repeat("fedcba9876543210", 4)
	both := []string{previous, secret}
	headers := http.Header{}
	headers.Set("Webhook-Id", id)
	headers.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	headers.Set("Webhook-Signature", rules.StandardSignature(both, id, now, body))
	for _, known := range both {
		require.NoError(t, stripe.ValidatePayload(body, rules.Signature(both, now, body), known))
		verifier, err := standardwebhooks.NewWebhook(base64.StdEncoding.EncodeToString([]byte(known)))
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(body, headers))
	}
	require.Error(t, stripe.ValidatePayload(body, rules.Signature(both, now, body), strings.Repeat("0", 64)))
	_, alone, _ := strings.Cut(rules.Signature([]string{secret}, now, body), ",")
	require.True(t, strings.HasSuffix(rules.Signature(both, now, body), ","+alone),
		"a receiver that reads only the last v1 finds that of the new secret")
}
