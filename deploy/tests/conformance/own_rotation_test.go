package conformance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

const rotation = "/webhooks:rotate-secret"

func rotateBody(overlapSeconds int) string {
	return fmt.Sprintf(`{"overlapSeconds": %d}`, overlapSeconds)
}

// next places an order and returns the webhook that the receiver gets for it.
func (f *fixture) next(t *testing.T, r *receiver) inbox.Delivery {
	t.Helper()
	return r.await(t, f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0].ID)
}

func requireUntil(t *testing.T, want time.Duration, rotated record) {
	t.Helper()
	until, err := time.Parse(time.RFC3339, rotated["previousSecretsValidUntil"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(want), until, harness.Slow)
}

func testOwnRotation(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "ROT-1", func(t *testing.T) {
		f.postOwn(t, f.key, rotation, "{}", "").Problem(t, "idempotency_key_required")
		for _, scope := range harness.AllScopes() {
			require.NotNil(t, f.Post(t, f.newKey(t, ofScope(scope)), rotation, "").OK(t)["secret"])
		}
		f.Post(t, "", rotation, "").Problem(t, "invalid_api_key")
	})
	requirement(t, "ROT-6", func(t *testing.T) {
		for body, want := range map[string]string{
			rotateBody(-1): "overlapSeconds invalid", rotateBody(604801): "overlapSeconds invalid",
			`{"overlapSeconds": 1.5}`: "overlapSeconds invalid", `{"overlapSeconds": "1d"}`: "overlapSeconds invalid",
		} {
			f.Post(t, f.key, rotation, body).Invalid(t, want)
		}
		requireUntil(t, 7*24*time.Hour, f.Post(t, f.newKey(t), rotation, rotateBody(604800)).OK(t))
		for _, body := range []string{"", "{}", `{"overlapSeconds": null}`, rotateBody(0)} {
			require.Nil(t, f.Post(t, f.newKey(t), rotation, body).OK(t)["previousSecretsValidUntil"], body)
		}
	})
	f.testOwnSignatures(t)
}

func (f *fixture) testOwnSignatures(t *testing.T) {
	requirement(t, "ROT-2", func(t *testing.T) {
		r := f.newReceiver(t)
		rotated := f.Post(t, r.key, rotation, "").OK(t)
		require.Regexp(t, "^[0-9a-f]{64}$", rotated["secret"])
		require.True(t, signedWith(f.next(t, r), rotated["secret"].(string)))
	})
	requirement(t, "ROT-3", func(t *testing.T) {
		r := f.newReceiver(t)
		first := f.Post(t, r.key, rotation, rotateBody(3600)).OK(t)
		second := f.Post(t, r.key, rotation, rotateBody(3600)).OK(t)
		requireUntil(t, time.Hour, second)
		received := f.next(t, r)
		require.False(t, signedWith(received, r.secret))
		for _, rotated := range []record{first, second} {
			require.True(t, signedWith(received, rotated["secret"].(string)))
		}
	})
	requirement(t, "ROT-4", func(t *testing.T) {
		r := f.newReceiver(t)
		first := f.Post(t, r.key, rotation, rotateBody(3600)).OK(t)
		last := f.Post(t, r.key, rotation, "").OK(t)
		require.Nil(t, last["previousSecretsValidUntil"])
		received := f.next(t, r)
		require.True(t, signedWith(received, last["secret"].(string)))
		for _, secret := range []string{r.secret, first["secret"].(string)} {
			require.False(t, signedWith(received, secret))
		}
	})
	requirement(t, "ROT-5", func(t *testing.T) {
		r, key := f.newReceiver(t), uuid.NewString()
		first := f.postOwn(t, r.key, rotation, rotateBody(0), key).OK(t)
		again := f.postOwn(t, r.key, rotation, rotateBody(0), key)
		require.Equal(t, record{"secret": nil, "previousSecretsValidUntil": nil}, again.OK(t))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.True(t, signedWith(f.next(t, r), first["secret"].(string)))
		f.postOwn(t, r.key, rotation, rotateBody(1), key).Problem(t, "idempotency_key_reused")
	})
	requirement(t, "ROT-7", func(t *testing.T) {
		r := f.newReceiver(t)
		rotated := f.Post(t, f.newKey(t), rotation, rotateBody(0)).OK(t)
		received := f.next(t, r)
		require.True(t, signedWith(received, r.secret))
		require.False(t, signedWith(received, rotated["secret"].(string)))
	})
}
