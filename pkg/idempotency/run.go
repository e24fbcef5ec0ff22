package idempotency

import (
	"context"
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
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
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

	selectAnswer = `SELECT fingerprint, answer, coalesce(brand_id::text, ''), coalesce(scope, 0)
FROM idempotency_answers WHERE key_id = $1 AND idempotency_key = $2`
	claim        = `SELECT idempotency_claim($1, $2)`
	insertAnswer = `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer, brand_id, scope)
VALUES ($1, $2, $3, $4, $5, $6)`
)

// Effect is what an operation decided to do.
type Effect[R proto.Message] struct {
	// Answer is what the caller gets, now and on every repetition.
	Answer R
	// Record is what the answer is about.
	Record Record
	// Queue adds the statements of the effect to the transaction. It may be called more than once. Nil: there is no effect.
	Queue func(b *pgx.Batch)
}

// Record is what a key must reach to get an answer again. The zero value is reached by every key.
type Record struct {
	BrandID string
	// Scope is set if the operation itself does not need the scope of the record.
	Scope commonv1.Scope
}

func (r Record) reachedBy(p caller.Principal) bool {
	return (r.BrandID == "" || p.Reaches(r.BrandID)) && (r.Scope == commonv1.Scope_SCOPE_UNSPECIFIED || p.HasScope(r.Scope))
}

// Commit commits the effect of a POST and its answer in one transaction of one round trip, at most once. A repetition gets the
// first answer, with the gRPC header caller.ReplayedHeader. A call without an Idempotency-Key just commits. An error of the
// effect's statements is returned unchanged, and the caller may turn it into a problem for Refuse.
//
// The effect is prepared for a repetition too, because only Commit and Refuse look for the stored answer: first requests, which
// are nearly all, need no round trip of their own for it. Before a preparation has an effect outside the database, it calls
// BeforeEffect.
func Commit[R proto.Message](ctx context.Context, pool *pgxpool.Pool, effect Effect[R]) (answer R, err error) {
	req, _ := FromContext(ctx)
	if err := commit(ctx, pool, req, effect); err != nil {
		return outcome[R](ctx, pool, req, err, nil)
	}
	return effect.Answer, nil
}

// Refuse ends a POST whose preparation failed with err. A repetition gets the stored answer. A first request gets err, which is
// stored if it is a decision of the operation. about is the record that err is about.
func Refuse[R proto.Message](ctx context.Context, pool *pgxpool.Pool, err error, about Record) (answer R, _ error) {
	req, keyed := FromContext(ctx)
	if !keyed {
		return answer, err
	}
	refusal := err
	if !Stored(err) {
		// The first request may have had another outcome. A problem to store needs no look: its claim finds the answer.
		if answer, found, err := replay[R](ctx, pool, req, refusal); found || err != nil {
			return answer, err
		}
	} else if p, ok := problem.As(err); ok {
		err = storeRefusal(ctx, pool, req, p, about)
	}
	return outcome[R](ctx, pool, req, err, refusal)
}

// errAnswered ends a preparation: the request has an answer.
var errAnswered = errors.New("the request with this Idempotency-Key has an answer")

// BeforeEffect is called before a preparation has an effect in another service. It returns an error, which Refuse replaces by the
// answer, if the request of ctx was answered before: a repetition has no further effect.
func BeforeEffect(ctx context.Context, pool *pgxpool.Pool) error {
	req, keyed := FromContext(ctx)
	if !keyed {
		return nil
	}
	switch _, err := lookUp(ctx, pool, req); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return errAnswered
}

// Replay returns the stored answer to the request of ctx, if there is one. It only looks: Commit
// decides whether a request may run.
func Replay[R proto.Message](ctx context.Context, pool *pgxpool.Pool) (answer R, found bool, err error) {
	req, keyed := FromContext(ctx)
	if !keyed {
		return answer, false, nil
	}
	return replay[R](ctx, pool, req, nil)
}

// replay returns the stored answer to a key that reaches its record. Any other key gets refusal, the problem that this request has.
// Without one the request is about an existing record, and the key gets not_found.
func replay[R proto.Message](
	ctx context.Context, pool *pgxpool.Pool, req Request, refusal error,
) (answer R, found bool, err error) {
	stored, err := lookUp(ctx, pool, req)
	if errors.Is(err, pgx.ErrNoRows) {
		return answer, false, nil
	}
	if err != nil {
		return answer, false, err
	}
	// A row without an answer is the claim of another service's request.
	if stored.answer == nil || !req.matches(stored.fingerprint) {
		return answer, true, reused()
	}
	first, err := decodeAnswer[R](stored.answer)
	if p, unknown := caller.PrincipalFrom(ctx); unknown != nil || !stored.record.reachedBy(p) || outOfReach(err, refusal) {
		return answer, true, withheld(err, refusal)
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.ReplayedHeader, "true"))
	return first, true, err
}

// outOfReach reports whether the key does not reach what the stored problem of a create is about. A problem may be stored without
// a record, because only the catalog knows the brand of a campaign. If the same request is now refused for its brand or campaign,
// and was not at first, the key has lost that brand.
func outOfReach(stored, refusal error) bool {
	first, wasRefused := problem.As(stored)
	now, isRefused := problem.As(refusal)
	return wasRefused && isRefused && now.Code != first.Code &&
		(now.Code == problem.BrandNotFound || now.Code == problem.CampaignNotFound)
}

// withheld is what a key gets that does not reach the record of an answer. stored is the problem of that answer, if it is one.
func withheld(stored, refusal error) error {
	if _, isProblem := problem.As(refusal); isProblem {
		return refusal
	}
	if p, refused := problem.As(stored); refused && p.OrderID != "" {
		p.OrderID = "" // The request is still refused, but the order is another brand's.
		return p
	}
	return problem.RecordNotFound()
}

// row is what is stored of a request.
type row struct {
	fingerprint, answer []byte
	record              Record
}

// lookUp returns an error that is pgx.ErrNoRows if the key is free.
func lookUp(ctx context.Context, pool *pgxpool.Pool, req Request) (r row, err error) {
	err = pool.QueryRow(ctx, selectAnswer, req.KeyID, req.Key).Scan(&r.fingerprint, &r.answer, &r.record.BrandID, &r.record.Scope)
	if err != nil {
		return r, fmt.Errorf("look up idempotency key: %w", err)
	}
	return r, nil
}

func queueAnswer(b *pgx.Batch, req Request, answer []byte, about Record) {
	brand, scope := postgres.Nullable(about.BrandID), postgres.Nullable(int(about.Scope))
	b.Queue(insertAnswer, req.KeyID, req.Key, req.Fingerprint, answer, brand, scope)
}

// commit runs the effect and stores its answer in one transaction. Without a key there is no answer to store.
func commit[R proto.Message](ctx context.Context, pool *pgxpool.Pool, req Request, effect Effect[R]) error {
	if req.Key == "" {
		if effect.Queue == nil {
			return nil
		}
		return postgres.Pipeline(ctx, pool, effect.Queue)
	}
	raw, err := encodeAnswer(effect.Answer)
	if err != nil {
		return err
	}
	return postgres.Pipeline(ctx, pool, func(b *pgx.Batch) {
		b.Queue(claim, req.KeyID, req.Key)
		if effect.Queue != nil {
			effect.Queue(b)
		}
		queueAnswer(b, req, raw, effect.Record)
	})
}

// storeRefusal commits a problem as the answer to the request. It returns p when it is stored, else why it is not.
func storeRefusal(ctx context.Context, pool *pgxpool.Pool, req Request, p *problem.Error, about Record) error {
	p.Instance = req.ID
	raw, err := encodeProblem(p)
	if err != nil {
		return err
	}
	err = postgres.Pipeline(ctx, pool, func(b *pgx.Batch) {
		b.Queue(claim, req.KeyID, req.Key)
		queueAnswer(b, req, raw, about)
	})
	if err != nil {
		return err
	}
	return p
}

// outcome returns what the caller gets when the transaction with the claim ended with err.
func outcome[R proto.Message](ctx context.Context, pool *pgxpool.Pool, req Request, err, refusal error) (answer R, _ error) {
	switch postgres.State(err) {
	case stateInProgress:
		return answer, InProgress()
	case stateAnswered:
		answer, found, err := replay[R](ctx, pool, req, refusal)
		if err == nil && !found {
			err = InProgress() // The row was released or deleted right after the claim had found it.
		}
		return answer, err
	default:
		return answer, err
	}
}

// InProgress is the error while an earlier request with the Idempotency-Key still runs.
func InProgress() error {
	e := problem.New(problem.IdempotencyInProgress,
		"A request with this Idempotency-Key is still running; try again for its answer.")
	e.RetryAfter = inProgressRetry
	return e
}
