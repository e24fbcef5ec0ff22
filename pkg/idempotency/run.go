package idempotency

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the stored answers.
func Migrations() postgres.Migrations {
	return postgres.Embedded("idempotency", files)
}

const (
	stateInProgress   = "GI001"
	stateAnswered     = "GI002"
	stateOtherRequest = "GI003"
	inProgressRetry   = 2 * time.Second

	selectAnswer = `SELECT fingerprint, answer FROM idempotency_answers WHERE key_id = $1 AND idempotency_key = $2`
	claim        = `SELECT idempotency_claim($1, $2)`
	insertAnswer = `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, $2, $3, $4)`
)

// Effect is what an operation decided to do.
type Effect[R proto.Message] struct {
	// Answer is what the caller gets, now and on every replay.
	Answer R
	// Queue adds the statements of the effect to the transaction. It may be called more than once.
	// Nil: there is nothing to do.
	Queue func(b *pgx.Batch)
	// Translate turns an error of those statements into the problem it stands for. Nil: none does.
	Translate func(err error) error
}

// Run decides a POST once. prepare works out the effect, outside of any transaction; the effect
// and its stored answer then commit together in one round trip. A repetition gets the first answer
// into a message made by empty, with gRPC header caller.ReplayedHeader set. A call without an
// Idempotency-Key runs as it is.
func Run[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, empty func() R, prepare func(ctx context.Context) (Effect[R], error),
) (R, error) {
	req, ok := FromContext(ctx)
	if !ok {
		return runOnce(ctx, pool, prepare)
	}
	if answer, found, err := replay(ctx, pool, req, empty); found || err != nil {
		return answer, err
	}
	effect, err := prepare(ctx)
	if err == nil {
		err = commit(ctx, pool, req, effect)
	}
	if err == nil {
		return effect.Answer, nil
	}
	if p, isProblem := problem.As(err); isProblem && storable(p) {
		err = store(ctx, pool, req, p)
	}
	return unclaimed(ctx, pool, req, empty, err)
}

// Replay gives the stored answer to the request of ctx, if there is one. It only looks: whether a
// request may run is decided by Run.
func Replay[R proto.Message](ctx context.Context, pool *pgxpool.Pool, empty func() R) (answer R, found bool, err error) {
	req, ok := FromContext(ctx)
	if !ok {
		return answer, false, nil
	}
	return replay(ctx, pool, req, empty)
}

// unclaimed says what err, of a transaction that was to hold the claim, means to the caller.
func unclaimed[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, req Request, empty func() R, err error,
) (answer R, _ error) {
	switch postgres.State(err) {
	case stateInProgress:
		return answer, inProgress()
	case stateAnswered:
		answer, found, err := replay(ctx, pool, req, empty)
		if err == nil && !found {
			err = inProgress() // The row was released, or its time was over, right after the claim met it.
		}
		return answer, err
	default:
		return answer, err
	}
}

func runOnce[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, prepare func(ctx context.Context) (Effect[R], error),
) (R, error) {
	effect, err := prepare(ctx)
	if err == nil && effect.Queue != nil {
		err = effect.translate(postgres.Pipeline(ctx, pool, effect.Queue))
	}
	return effect.Answer, err
}

func commit[R proto.Message](ctx context.Context, pool *pgxpool.Pool, req Request, effect Effect[R]) error {
	raw, err := encodeAnswer(effect.Answer)
	if err != nil {
		return err
	}
	err = postgres.Pipeline(ctx, pool, func(b *pgx.Batch) {
		b.Queue(claim, req.KeyID, req.Key)
		if effect.Queue != nil {
			effect.Queue(b)
		}
		b.Queue(insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw)
	})
	return effect.translate(err)
}

func (e Effect[R]) translate(err error) error {
	if err == nil || e.Translate == nil {
		return err
	}
	if state := postgres.State(err); state == stateInProgress || state == stateAnswered {
		return err
	}
	return e.Translate(err)
}

// store commits a problem as the request's answer and gives it back.
func store(ctx context.Context, pool *pgxpool.Pool, req Request, p *problem.Error) error {
	p.Instance = req.ID
	raw, err := encodeProblem(p)
	if err != nil {
		return err
	}
	err = postgres.Pipeline(ctx, pool, func(b *pgx.Batch) {
		b.Queue(claim, req.KeyID, req.Key)
		b.Queue(insertAnswer, req.KeyID, req.Key, req.Fingerprint, raw)
	})
	if err != nil {
		return err
	}
	return p
}

func replay[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, req Request, empty func() R,
) (answer R, found bool, err error) {
	var fingerprint, raw []byte
	err = pool.QueryRow(ctx, selectAnswer, req.KeyID, req.Key).Scan(&fingerprint, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return answer, false, nil
	}
	if err != nil {
		return answer, false, fmt.Errorf("look up idempotency key: %w", err)
	}
	// Without an answer it names a request of another service.
	if raw == nil || subtle.ConstantTimeCompare(fingerprint, req.Fingerprint) != 1 {
		return answer, true, reused()
	}
	// Outside of a gRPC call, in a test, there is no header to set.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.ReplayedHeader, "true"))
	answer = empty()
	if err := decodeAnswer(raw, answer); err != nil {
		var none R
		return none, true, err
	}
	return answer, true, nil
}

func inProgress() error {
	e := problem.New(problem.IdempotencyInProgress,
		"A request with this Idempotency-Key is still running; try again for its answer.")
	e.RetryAfter = inProgressRetry
	return e
}
