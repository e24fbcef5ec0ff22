package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

type answer = webhookv1.TestWebhookResponse

func setup(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := pgtest.New(t, idempotency.Migrations())
	_, err := pool.Exec(t.Context(), `CREATE TABLE effects (id int GENERATED ALWAYS AS IDENTITY, name text UNIQUE);
CREATE TABLE counter AS SELECT 0 AS n`)
	require.NoError(t, err)
	return pool
}

func request(ctx context.Context, keyID int32, key, fingerprint string) context.Context {
	ctx = caller.WithPrincipal(ctx, caller.Principal{TenantID: "t", KeyID: keyID})
	return caller.WithRequest(ctx, caller.Request{IdempotencyKey: key, Fingerprint: []byte(fingerprint), ID: "first"})
}

// effect inserts a row and answers with text.
func effect(name, text string) func(context.Context) (idempotency.Effect[*answer], error) {
	return func(context.Context) (idempotency.Effect[*answer], error) {
		return idempotency.Effect[*answer]{
			Answer: &answer{Error: proto.String(text)},
			Queue:  func(b *pgx.Batch) { b.Queue("INSERT INTO effects (name) VALUES ($1)", name) },
		}, nil
	}
}

// run answers a request with what prepare decides.
func run(
	ctx context.Context, pool *pgxpool.Pool, prepare func(ctx context.Context) (idempotency.Effect[*answer], error),
) (*answer, error) {
	e, err := prepare(ctx)
	if err != nil {
		return idempotency.Refuse[*answer](ctx, pool, err, e.Record)
	}
	return idempotency.Commit(ctx, pool, e)
}

func effects(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM effects").Scan(&n))
	return n
}

const countUp = "UPDATE counter SET n = n + 1"

// counting are the four ways to answer a request. Each returns the counter and increments it, unless decide returns an error
// before.
var counting = map[string]func(ctx context.Context, pool *pgxpool.Pool, decide func() error) (*answer, error){
	"Commit": func(ctx context.Context, pool *pgxpool.Pool, decide func() error) (*answer, error) {
		return run(ctx, pool, func(ctx context.Context) (e idempotency.Effect[*answer], err error) {
			n := 0
			if err := pool.QueryRow(ctx, "SELECT n FROM counter").Scan(&n); err != nil {
				return e, err
			}
			e.Answer = &answer{ResponseStatus: proto.Int32(int32(n))}
			e.Queue = func(b *pgx.Batch) { b.Queue(countUp) }
			return e, decide()
		})
	},
	"RunInTx": func(ctx context.Context, pool *pgxpool.Pool, decide func() error) (*answer, error) {
		n := 0
		return idempotency.RunInTx(ctx, pool, func(b *pgx.Batch) {
			b.Queue("SELECT n FROM counter FOR UPDATE").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		}, func() (e idempotency.Effect[*answer], err error) {
			e.Answer = &answer{ResponseStatus: proto.Int32(int32(n))}
			e.Queue = func(b *pgx.Batch) { b.Queue("UPDATE counter SET n = $1", n+1) }
			return e, decide()
		})
	},
	"RunTx": func(ctx context.Context, pool *pgxpool.Pool, decide func() error) (*answer, error) {
		return idempotency.RunTx(ctx, pool, inTx(pool), func(tx pgx.Tx) (got, stored *answer, err error) {
			n := 0
			if err := tx.QueryRow(ctx, countUp+" RETURNING n - 1").Scan(&n); err != nil {
				return nil, nil, err
			}
			got = &answer{ResponseStatus: proto.Int32(int32(n))}
			return got, got, decide()
		})
	},
	"RunExternal": func(ctx context.Context, pool *pgxpool.Pool, decide func() error) (*answer, error) {
		return idempotency.RunExternal(ctx, pool, time.Minute, func(ctx context.Context) (*answer, error) {
			if err := decide(); err != nil {
				return nil, err
			}
			n := 0
			err := pool.QueryRow(ctx, countUp+" RETURNING n - 1").Scan(&n)
			return &answer{ResponseStatus: proto.Int32(int32(n))}, err
		})
	},
}

func accept() error { return nil }

func counted(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT n FROM counter").Scan(&n))
	return n
}

func TestARepetitionGetsTheFirstAnswerAndHasNoEffect(t *testing.T) {
	t.Parallel()
	for name, run := range counting {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := setup(t)
			ctx := request(t.Context(), 1, "k", "f")
			for range 3 {
				got, err := run(ctx, pool, accept)
				require.NoError(t, err)
				require.Zero(t, got.GetResponseStatus())
			}
			require.Equal(t, 1, counted(t, pool))

			_, err := run(request(t.Context(), 1, "k", "other"), pool, accept)
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused))
			_, err = run(request(t.Context(), 2, "k", "f"), pool, accept)
			require.NoError(t, err, "another API key has keys of its own")
			for range 2 {
				_, err = run(t.Context(), pool, accept)
				require.NoError(t, err, "a call without a key just runs")
			}
			require.Equal(t, 4, counted(t, pool))
			require.Zero(t, pool.Stat().AcquiredConns())
		})
	}
}

func TestOnlyARefusalThatTheOperationDecidedIsStored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Commit", "RunInTx", "RunTx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, pool := counting[name], setup(t)
			stored := request(t.Context(), 1, "conflict", "f")
			_, err := run(stored, pool, func() error { return problem.New(problem.OutOfStock, "none left") })
			require.True(t, problem.Is(err, problem.OutOfStock))
			_, err = run(stored, pool, accept)
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, "none left", p.Detail)
			require.Equal(t, "first", p.Instance, "the repeated body names the first request")

			free := request(t.Context(), 1, "free", "f")
			for _, other := range []error{
				problem.New(problem.InvalidRequest, "no"), problem.New(problem.NotFound, "no"),
				problem.New(problem.InternalError, "no"), problem.New(problem.ServiceUnavailable, "no"), errors.New("broken"),
			} {
				_, err = run(free, pool, func() error { return other })
				require.ErrorIs(t, err, other)
			}
			require.Zero(t, counted(t, pool))
			_, err = run(free, pool, accept)
			require.NoError(t, err)
			require.Equal(t, 1, counted(t, pool))
			require.Zero(t, pool.Stat().AcquiredConns())
		})
	}
}

func TestAConflictFoundByTheDatabaseIsStored(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	_, err := run(request(t.Context(), 1, "k1", "f"), pool, effect("same", "one"))
	require.NoError(t, err)
	ctx := request(t.Context(), 1, "k2", "f")
	clash, _ := effect("same", "two")(ctx)
	_, err = idempotency.Commit(ctx, pool, clash)
	_, isViolation := postgres.UniqueViolation(err)
	require.True(t, isViolation)
	taken := problem.New(problem.ExternalOrderIDConflict, "taken")
	_, err = idempotency.Refuse[*answer](ctx, pool, taken, idempotency.Record{})
	require.ErrorIs(t, err, taken)
	_, err = idempotency.Commit(ctx, pool, clash)
	require.True(t, problem.Is(err, problem.ExternalOrderIDConflict))
	require.Equal(t, 1, effects(t, pool))
}

func TestConcurrentRequestsThatLockRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	const callers = 30
	var group errgroup.Group
	for i := range callers {
		// Every other one without a key.
		ctx := t.Context()
		if i%2 == 0 {
			ctx = request(ctx, 1, string(rune('a'+i)), "f")
		}
		group.Go(func() error {
			_, err := counting["RunInTx"](ctx, pool, accept)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, callers, counted(t, pool))
}

func TestASecondRequestWithTheKeyNeverWaits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"RunInTx", "RunTx", "RunExternal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, pool := counting[name], setup(t)
			ctx := request(t.Context(), 1, "k", "f")
			_, err := run(ctx, pool, func() error {
				_, second := run(ctx, pool, accept)
				p, ok := problem.As(second)
				require.True(t, ok, "%v", second)
				require.Equal(t, problem.IdempotencyInProgress, p.Code)
				require.Equal(t, 2*time.Second, p.RetryAfter)
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, 1, counted(t, pool))
		})
	}
}

func TestAnExternalActMayTakeLongerThanTransactionsMayBeIdle(t *testing.T) {
	t.Parallel()
	const idle = time.Second
	cfg := postgres.Config{URL: pgtest.NewURL(t, idempotency.Migrations()), StatementTimeout: idle, MaxConns: 2}
	pool, err := postgres.OpenObserved(t.Context(), cfg, telemetry.Discard(), postgres.ByIndex, postgres.PlanOnce)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = idempotency.RunExternal(request(t.Context(), 1, "k", "f"), pool, time.Minute, func(context.Context) (*answer, error) {
		<-time.After(idle + idle/2)
		return &answer{}, nil
	})
	require.NoError(t, err)
}

func TestACallWhoseCallerLeavesHasNoEffect(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	ctx, leave := context.WithCancel(request(t.Context(), 1, "k", "f"))
	_, err := counting["RunInTx"](ctx, pool, func() error { leave(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, counted(t, pool))
	_, err = counting["RunInTx"](request(t.Context(), 1, "k", "f"), pool, accept)
	require.NoError(t, err)
	require.Equal(t, 1, counted(t, pool))
}

func TestARequestWhoseConnectionBreaksHasNoEffect(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	ctx := request(t.Context(), 1, "k", "f")
	_, err := counting["RunInTx"](ctx, pool, func() error {
		// Waits, up to a minute, until the server's process has ended and its locks are released.
		_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'idle in transaction'`)
		return err
	})
	require.True(t, postgres.Unavailable(err), "%v", err)
	require.Zero(t, counted(t, pool))
	require.Eventually(t, func() bool { return pool.Stat().AcquiredConns() == 0 }, time.Minute, time.Millisecond)
	_, err = counting["RunInTx"](ctx, pool, accept)
	require.NoError(t, err, "the key is free")
	require.Equal(t, 1, counted(t, pool))
}

func TestReservationKeysDiffer(t *testing.T) {
	t.Parallel()
	one := idempotency.Request{KeyID: 1, Key: "k"}
	require.Equal(t, one.ReservationKey(), idempotency.Request{KeyID: 1, Key: "k", ID: "x"}.ReservationKey())
	require.NotEqual(t, one.ReservationKey(), idempotency.Request{KeyID: 2, Key: "k"}.ReservationKey())
}

func TestAnAnswerIsKeptForItsTimeAndThenTheKeyIsFree(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	const keep = 30 * 24 * time.Hour
	ctx := request(t.Context(), 1, "k", "f")
	_, err := run(ctx, pool, effect("a", "one"))
	require.NoError(t, err)
	for _, tc := range []struct {
		age  time.Duration
		want string
	}{{keep - time.Minute, "one"}, {keep + time.Minute, "two"}} {
		_, err := pool.Exec(t.Context(), "UPDATE idempotency_answers SET created_at = now() - $1::interval", tc.age)
		require.NoError(t, err)
		require.NoError(t, idempotency.DeleteOld(t.Context(), pool, keep))
		got, err := run(ctx, pool, effect("b", "two"))
		require.NoError(t, err)
		require.Equal(t, tc.want, got.GetError())
	}
}

func TestAnAnswerIsOnlyForAKeyThatReachesItsRecord(t *testing.T) {
	t.Parallel()
	const brand, other = "0190d2b4-0000-7a53-9f10-0123456789ab", "0190d2b4-1111-7a53-9f10-0123456789ab"
	about := idempotency.Record{BrandID: brand, Scope: commonv1.Scope_SCOPE_ORDERS}
	// The decision of a create refuses a brand that the key does not reach. That of an action never runs again.
	decide := func(ctx context.Context) (effect idempotency.Effect[*answer], err error) {
		if p, err := caller.PrincipalFrom(ctx); err != nil || !p.Reaches(brand) {
			return effect, errors.Join(err, problem.New(problem.BrandNotFound, "why"))
		}
		return idempotency.Effect[*answer]{Answer: &answer{Error: proto.String("the answer")}, Record: about}, nil
	}
	for name, tc := range map[string]struct {
		run  func(ctx context.Context, pool *pgxpool.Pool) (*answer, error)
		code problem.Code
	}{
		"a create": {func(ctx context.Context, pool *pgxpool.Pool) (*answer, error) {
			return run(ctx, pool, decide)
		}, problem.BrandNotFound},
		"an action": {func(ctx context.Context, pool *pgxpool.Pool) (*answer, error) {
			return idempotency.RunInTx(ctx, pool, func(*pgx.Batch) {}, func() (idempotency.Effect[*answer], error) { return decide(ctx) })
		}, problem.NotFound},
		"a look-up": {func(ctx context.Context, pool *pgxpool.Pool) (*answer, error) {
			if stored, found, err := idempotency.Replay[*answer](ctx, pool); found {
				return stored, err
			}
			return run(ctx, pool, decide)
		}, problem.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := setup(t)
			as := func(p caller.Principal) (*answer, error) {
				p.TenantID, p.KeyID = "t", 1
				return tc.run(caller.WithPrincipal(request(t.Context(), 1, "k", "f"), p), pool)
			}
			orders := []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}
			first, err := as(caller.Principal{AllBrands: true, Scopes: orders})
			require.NoError(t, err)
			for _, reaching := range []caller.Principal{
				{AllBrands: true, Scopes: orders}, {BrandIDs: []string{other, brand}, Scopes: orders},
			} {
				again, err := as(reaching)
				require.NoError(t, err)
				require.True(t, proto.Equal(first, again))
			}
			for _, hidden := range []caller.Principal{{BrandIDs: []string{other}, Scopes: orders}, {Scopes: orders}} {
				_, err := as(hidden)
				require.True(t, problem.Is(err, tc.code), "%v", err)
			}
			_, err = as(caller.Principal{AllBrands: true})
			require.True(t, problem.Is(err, problem.NotFound), "without the scope: %v", err)
		})
	}
}

func TestARefusalIsOnlyForAKeyThatReachesItsRecord(t *testing.T) {
	t.Parallel()
	const brand = "0190d2b4-0000-7a53-9f10-0123456789ab"
	pool := setup(t)
	as := func(p caller.Principal) error {
		p.TenantID, p.KeyID = "t", 1
		ctx := caller.WithPrincipal(request(t.Context(), 1, "k", "f"), p)
		_, err := idempotency.RunInTx(ctx, pool, func(*pgx.Batch) {}, func() (idempotency.Effect[*answer], error) {
			return idempotency.Effect[*answer]{Record: idempotency.Record{BrandID: brand}}, problem.New(problem.NotEditable, "why")
		})
		return err
	}
	for range 2 {
		require.True(t, problem.Is(as(caller.Principal{AllBrands: true}), problem.NotEditable))
	}
	require.True(t, problem.Is(as(caller.Principal{}), problem.NotFound))
}

// Only the catalog knows the brand of a campaign, so the refusal of a create may be stored without it.
func TestARefusalWithoutItsRecordIsNotForAKeyThatIsRefusedForItsBrandNow(t *testing.T) {
	t.Parallel()
	for _, reach := range []problem.Code{problem.BrandNotFound, problem.CampaignNotFound} {
		pool, ctx := setup(t), request(t.Context(), 1, "k", "f")
		refuse := func(code problem.Code, detail string) error {
			_, err := run(ctx, pool, failing(problem.New(code, "%s", detail)))
			return err
		}
		require.ErrorContains(t, refuse(problem.CampaignNotActive, "first"), "first")
		err := refuse(reach, "now")
		require.True(t, problem.Is(err, reach), "%v", err)
		require.ErrorContains(t, refuse(problem.CampaignNotActive, "again"), "first", "a key that reaches the campaign again")

		ctx = request(t.Context(), 1, "k2", "f")
		require.ErrorContains(t, refuse(reach, "first"), "first")
		require.ErrorContains(t, refuse(reach, "again"), "first", "the stored answer")
	}
}
