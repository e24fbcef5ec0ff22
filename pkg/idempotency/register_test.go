package idempotency_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const otherService = "gifting.webhook.v1"

// register is the register of the database, as the gateway calls it for the key k of API key 1.
type register struct {
	*idempotency.Register
}

// claim makes a claim with an id of its own.
func (r register) claim(ctx context.Context, fingerprint string) error {
	return r.claimAs(ctx, uuid.NewString(), fingerprint)
}

// claimAs makes the claim with this id, or one without id, as gateways of the first version do.
func (r register) claimAs(ctx context.Context, id, fingerprint string) error {
	_, err := r.ClaimKey(ctx, &commonv1.ClaimKeyRequest{
		KeyId: 1, IdempotencyKey: "k", Fingerprint: []byte(fingerprint), Owner: otherService, ClaimId: id,
	})
	return err
}

func (r register) release(ctx context.Context, id, fingerprint string) error {
	_, err := r.ReleaseKey(ctx, &commonv1.ReleaseKeyRequest{
		KeyId: 1, IdempotencyKey: "k", Fingerprint: []byte(fingerprint), ClaimId: id,
	})
	return err
}

func setupRegister(t *testing.T) (*pgxpool.Pool, register) {
	t.Helper()
	pool := setup(t)
	return pool, register{idempotency.NewRegister(pool, idempotency.RegisterConfig{Budget: 20 * time.Second})}
}

func TestAKeyOfThisServiceIsRefusedByOthers(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("a", "one"))
	require.NoError(t, err)
	require.True(t, problem.Is(r.claim(t.Context(), "g"), problem.IdempotencyKeyReused))
	for _, id := range []string{"", uuid.NewString()} {
		require.NoError(t, r.release(t.Context(), id, "f"))
	}
	got, err := run(request(t.Context(), 1, "k", "f"), pool, effect("b", "two"))
	require.NoError(t, err)
	require.Equal(t, "one", got.GetError(), "a release takes no stored answer away")
}

func TestAKeyOfAnotherServiceIsRefusedByThisOne(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	require.NoError(t, r.claim(t.Context(), "g"))
	for name, fingerprint := range map[string]string{"another request": "f", "even the same fingerprint": "g"} {
		t.Run(name, func(t *testing.T) {
			_, err := run(request(t.Context(), 1, "k", fingerprint), pool, effect("a", "one"))
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		})
	}
	t.Run("also when it is claimed after the look-up", func(t *testing.T) {
		late := register{r.Register}
		_, err := run(request(t.Context(), 2, "k", "f"), pool, func(ctx context.Context) (idempotency.Effect[*answer], error) {
			_, err := late.ClaimKey(ctx,
				&commonv1.ClaimKeyRequest{KeyId: 2, IdempotencyKey: "k", Fingerprint: []byte("g"), Owner: otherService})
			require.NoError(t, err)
			return effect("b", "two")(ctx)
		})
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	})
	require.Zero(t, effects(t, pool))
	t.Run("another API key has keys of its own", func(t *testing.T) {
		_, err := run(request(t.Context(), 3, "k", "f"), pool, effect("c", "three"))
		require.NoError(t, err)
	})
}

func TestTheSameRequestMayClaimAgainAndTheLastReleaseFreesTheKey(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	first, second := uuid.NewString(), uuid.NewString()
	for _, id := range []string{first, second, "", first, second} { // The last two are repeated calls, whose answers were lost.
		require.NoError(t, r.claimAs(t.Context(), id, "g"))
	}
	require.NoError(t, r.release(t.Context(), first, "h"))
	for _, id := range []string{second, second, "", uuid.NewString()} {
		require.NoError(t, r.release(t.Context(), id, "g"))
		require.True(t, problem.Is(r.claim(t.Context(), "h"), problem.IdempotencyKeyReused), "one claim is left")
	}
	require.NoError(t, r.release(t.Context(), first, "g"))
	_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("a", "one"))
	require.NoError(t, err)
	require.Equal(t, 1, effects(t, pool))
}

func TestTheIdsOfClaimsAreBounded(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	ids := make([]string, 40)
	for i := range ids {
		ids[i] = uuid.NewString()
		require.NoError(t, r.claimAs(t.Context(), ids[i], "g"))
	}
	var kept, holders int
	read := "SELECT cardinality(claims), holders FROM idempotency_answers"
	require.NoError(t, pool.QueryRow(t.Context(), read).Scan(&kept, &holders))
	require.Equal(t, []int{16, 40}, []int{kept, holders})
	for _, id := range ids {
		require.NoError(t, r.release(t.Context(), id, "g"))
	}
	require.True(t, problem.Is(r.claim(t.Context(), "h"), problem.IdempotencyKeyReused), "the key stays bound to its request")
}

func TestAClaimIsRefusedWhileARequestWithTheKeyRuns(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	ctx := request(t.Context(), 1, "k", "f")
	_, err := idempotency.RunExternal(ctx, pool, time.Minute, func(ctx context.Context) (*answer, error) {
		require.True(t, problem.Is(r.claim(ctx, "g"), problem.IdempotencyInProgress))
		return nil, errors.New("it failed")
	})
	require.Error(t, err)
	require.NoError(t, r.claim(t.Context(), "g"), "a failed request left the key free")
}

func TestAConcurrentClaimAndRunNeverBothSucceed(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	const attempts = 100
	var ran, claimed int
	for range attempts {
		_, err := pool.Exec(t.Context(), "TRUNCATE idempotency_answers, effects")
		require.NoError(t, err)
		var wonHere, claimedByOther atomic.Bool
		var group errgroup.Group
		group.Go(func() error {
			_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("a", "one"))
			wonHere.Store(err == nil)
			return unlessRefused(err)
		})
		group.Go(func() error {
			err := r.claim(t.Context(), "g")
			claimedByOther.Store(err == nil)
			return unlessRefused(err)
		})
		require.NoError(t, group.Wait())
		require.False(t, wonHere.Load() && claimedByOther.Load(), "both succeeded")
		require.Equal(t, wonHere.Load(), effects(t, pool) == 1)
		if wonHere.Load() {
			ran++
		}
		if claimedByOther.Load() {
			claimed++
		}
	}
	t.Logf("of %d attempts %d ran here and %d were claimed", attempts, ran, claimed)
	require.Positive(t, ran+claimed)
}

func TestConcurrentClaimsAndReleasesLeaveTheKeyFree(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	const callers, attempts = 8, 25
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			for range attempts {
				id := uuid.NewString()
				for _, call := range []func(context.Context, string, string) error{r.claimAs, r.claimAs, r.release, r.release} {
					if err := call(t.Context(), id, "g"); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_answers").Scan(&left))
	require.Zero(t, left)
}

func TestAClaimIsKeptAsLongAsAnAnswerSinceItsLastUse(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	age := func() {
		_, err := pool.Exec(t.Context(), "UPDATE idempotency_answers SET created_at = created_at - interval '40 minutes'")
		require.NoError(t, err)
		require.NoError(t, idempotency.DeleteOld(t.Context(), pool, time.Hour))
	}
	require.NoError(t, r.claim(t.Context(), "g"))
	age()
	require.NoError(t, r.claim(t.Context(), "g"))
	age()
	require.True(t, problem.Is(r.claim(t.Context(), "h"), problem.IdempotencyKeyReused))
	age()
	require.NoError(t, r.claim(t.Context(), "h"))
}

// unlessRefused returns err, nil for the two refusals.
func unlessRefused(err error) error {
	if problem.Is(err, problem.IdempotencyKeyReused) || problem.Is(err, problem.IdempotencyInProgress) {
		return nil
	}
	return err
}

func TestAClaimDoesNotWaitLongForTheDatabase(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	r := register{idempotency.NewRegister(pool, idempotency.RegisterConfig{Budget: 20 * time.Millisecond})}
	for range pool.Config().MaxConns {
		held, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		defer held.Release()
	}
	require.True(t, postgres.Unavailable(r.claim(t.Context(), "g")))
}
