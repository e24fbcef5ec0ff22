package edge_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestAKeyIsClaimedBeforeAServiceOtherThanOrdersIsCalled(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 200, f.Do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k").Status)
	require.Equal(t, []string{"claim", "call"}, f.Notes())
	claim := f.Claim
	require.Positive(t, claim.GetKeyId())
	require.Equal(t, "k", claim.GetIdempotencyKey())
	require.Equal(t, "gifting.webhook.v1", claim.GetOwner())
	require.Len(t, claim.GetFingerprint(), 32)

	t.Run("orders claims its keys itself", func(t *testing.T) {
		require.Equal(t, 201, f.Do("POST", "/orders", `{"externalOrderId":"o"}`).Status)
		require.Empty(t, f.Notes())
	})
	t.Run("a request that the edge refuses claims nothing", func(t *testing.T) {
		for status, headers := range map[int][]string{
			400: {"Idempotency-Key", ""}, 401: {"Authorization", "Bearer x"}, 406: {"Accept", "text/html"}, 415: {"Content-Type", "text/plain"},
		} {
			require.Equal(t, status, f.Do("POST", "/webhooks:test", "{}", headers...).Status)
		}
		require.Equal(t, 413, f.Do("POST", "/webhooks:test", strings.Repeat(" ", 10<<20+1)).Status)
		require.Empty(t, f.Notes())
	})
}

func TestWithoutAClaimNoServiceIsCalled(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for name, tc := range map[string]struct {
		failure error
		status  int
		code    string
	}{
		"the key names another request":   {problem.New(problem.IdempotencyKeyReused, "x"), 422, "idempotency_key_reused"},
		"an order under the key runs":     {problem.New(problem.IdempotencyInProgress, "x"), 409, "idempotency_request_in_progress"},
		"the register fails":              {problem.Internal(), 500, "internal_error"},
		"the register's database is away": {problem.Unavailable(), 503, "service_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			f.ClaimFailure = tc.failure
			got := f.Do("POST", "/webhooks:test", "{}")
			require.Equal(t, tc.status, got.Status)
			require.Equal(t, tc.code, got.Parsed["code"])
			require.Equal(t, []string{"claim"}, f.Notes())
		})
	}
}

func TestAClaimIsReleasedWhenNothingWasStored(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for name, tc := range map[string]struct {
		failure  error
		released bool
	}{
		"a field is wrong":                {problem.Invalid(problem.Violation{Field: "x", Code: problem.FieldInvalid}), true},
		"there is no such record":         {problem.RecordNotFound(), true},
		"the same request runs":           {problem.New(problem.IdempotencyInProgress, "x"), true},
		"the owner knows another request": {problem.New(problem.IdempotencyKeyReused, "x"), true},
		"the service failed":              {problem.Internal(), true},
		"a conflict, which is stored":     {problem.New(problem.NotCancellable, "x"), false},
		"a refusal, which is stored":      {problem.New(problem.NoRecipients, "x"), false},
		"a database that may have stored": {problem.Unavailable(), false},
	} {
		t.Run(name, func(t *testing.T) {
			f.Failure = tc.failure
			require.GreaterOrEqual(t, f.Do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k").Status, 400)
			want := []string{"claim", "call"}
			if tc.released {
				want = append(want, "release k "+base64.StdEncoding.EncodeToString(f.Claim.GetFingerprint()))
			}
			require.Equal(t, want, f.Notes())
		})
	}
}
