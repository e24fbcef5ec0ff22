package gateway_test

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// register stands for the register of idempotency keys and notes what is done with it.
type register struct {
	commonv1.UnimplementedIdempotencyRegisterServiceServer

	lock  sync.Mutex
	notes []string
	claim *commonv1.ClaimKeyRequest
	fault error
}

func (r *register) note(what string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.notes = append(r.notes, what)
}

// noted gives the notes and forgets them.
func (r *register) noted() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	notes := r.notes
	r.notes = nil
	return slices.Clip(notes)
}

func (r *register) ClaimKey(_ context.Context, req *commonv1.ClaimKeyRequest) (*commonv1.ClaimKeyResponse, error) {
	r.note("claim")
	r.claim = req
	return &commonv1.ClaimKeyResponse{}, r.fault
}

func (r *register) ReleaseKey(_ context.Context, req *commonv1.ReleaseKeyRequest) (*commonv1.ReleaseKeyResponse, error) {
	r.note("release " + req.GetIdempotencyKey() + " " + base64.StdEncoding.EncodeToString(req.GetFingerprint()))
	return &commonv1.ReleaseKeyResponse{}, nil
}

func TestAKeyIsClaimedBeforeAnotherServiceThanOrdersRuns(t *testing.T) {
	f := setup(t)
	require.Equal(t, 200, f.do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k").status)
	require.Equal(t, []string{"claim", "run"}, f.register.noted())
	claim := f.register.claim
	require.Positive(t, claim.GetKeyId())
	require.Equal(t, "k", claim.GetIdempotencyKey())
	require.Equal(t, "gifting.webhook.v1", claim.GetOwner())
	require.Len(t, claim.GetFingerprint(), 32)

	t.Run("orders registers its own", func(t *testing.T) {
		require.Equal(t, 201, f.do("POST", "/orders", `{"externalOrderId":"o"}`).status)
		require.Empty(t, f.register.noted())
	})
	t.Run("what the edge refuses claims nothing", func(t *testing.T) {
		for status, headers := range map[int][]string{
			400: {"Idempotency-Key", ""}, 401: {"Authorization", "Bearer x"}, 406: {"Accept", "text/html"}, 415: {"Content-Type", "text/plain"},
		} {
			require.Equal(t, status, f.do("POST", "/webhooks:test", "{}", headers...).status)
		}
		require.Equal(t, 413, f.do("POST", "/webhooks:test", strings.Repeat(" ", 10<<20+1)).status)
		require.Empty(t, f.register.noted())
	})
}

func TestAClaimThatIsRefusedRunsNothing(t *testing.T) {
	f := setup(t)
	for name, tc := range map[string]struct {
		fault  error
		status int
		code   string
	}{
		"the key names another request":   {problem.New(problem.IdempotencyKeyReused, "x"), 422, "idempotency_key_reused"},
		"an order under the key runs":     {problem.New(problem.IdempotencyInProgress, "x"), 409, "idempotency_request_in_progress"},
		"the register fails":              {problem.Internal(), 500, "internal_error"},
		"the register's database is away": {problem.Unavailable(), 503, "service_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			f.register.fault = tc.fault
			got := f.do("POST", "/webhooks:test", "{}")
			require.Equal(t, tc.status, got.status)
			require.Equal(t, tc.code, got.parsed["code"])
			require.Equal(t, []string{"claim"}, f.register.noted())
		})
	}
}

func TestAClaimIsReleasedWhenSurelyNothingIsStored(t *testing.T) {
	f := setup(t)
	for name, tc := range map[string]struct {
		fault    error
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
			f.fault = tc.fault
			require.GreaterOrEqual(t, f.do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k").status, 400)
			want := []string{"claim", "run"}
			if tc.released {
				want = append(want, "release k "+base64.StdEncoding.EncodeToString(f.register.claim.GetFingerprint()))
			}
			require.Equal(t, want, f.register.noted())
		})
	}
}
