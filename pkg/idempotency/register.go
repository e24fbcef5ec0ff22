package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	claimForOther = `SELECT idempotency_register($1, $2, $3, $4, nullif($5, '')::uuid)`
	release       = `SELECT idempotency_unregister($1, $2, $3, nullif($4, '')::uuid)`
)

// RegisterConfig of a Register. It has connections of its own, because requests of all services wait for it: what else the service
// does with its database must not delay them.
type RegisterConfig struct {
	MaxConns int32         `env:"REGISTER_MAX_CONNS" envDefault:"4" check:"min=1" doc:"Maximum number of database connections for the register of Idempotency-Keys, in addition to DATABASE_MAX_CONNS."`
	Budget   time.Duration `env:"REGISTER_BUDGET" envDefault:"1s" check:"min=10ms,max=10s" doc:"How long a request to another service waits for the register of Idempotency-Keys; then it is refused with 503."`
}

// Register makes an Idempotency-Key name one request of its API key over the operations of all services. It keeps the claims of
// requests to other services in the table of its own service's answers, so that Commit and Refuse find both without further
// statements.
//
// A claim is made before its request runs. It is released only when the request is known to have stored nothing. After a crash
// or an unknown outcome the claim stays, and only the same request may use the key until the retention deletes the claim. Each
// claim has an id, so a call of the register whose answer was lost can be repeated.
type Register struct {
	commonv1.UnimplementedIdempotencyRegisterServiceServer
	pool   *pgxpool.Pool
	budget time.Duration
}

// NewRegister makes the register in the database of one service, with a pool that nothing else uses.
func NewRegister(pool *pgxpool.Pool, cfg RegisterConfig) *Register {
	return &Register{pool: pool, budget: cfg.Budget}
}

// ClaimKey implements commonv1.IdempotencyRegisterServiceServer.
func (r *Register) ClaimKey(ctx context.Context, req *commonv1.ClaimKeyRequest) (*commonv1.ClaimKeyResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, r.budget)
	defer cancel()
	_, err := r.pool.Exec(ctx, claimForOther,
		req.GetKeyId(), req.GetIdempotencyKey(), fingerprints(req), req.GetOwner(), req.GetClaimId())
	switch {
	case err == nil:
		return &commonv1.ClaimKeyResponse{}, nil
	case postgres.State(err) == stateInProgress:
		return nil, InProgress()
	case postgres.State(err) == stateOtherRequest:
		return nil, reused()
	default:
		return nil, fmt.Errorf("claim idempotency key: %w", err)
	}
}

// ReleaseKey implements commonv1.IdempotencyRegisterServiceServer.
func (r *Register) ReleaseKey(ctx context.Context, req *commonv1.ReleaseKeyRequest) (*commonv1.ReleaseKeyResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, r.budget)
	defer cancel()
	if _, err := r.pool.Exec(ctx, release, req.GetKeyId(), req.GetIdempotencyKey(), fingerprints(req), req.GetClaimId()); err != nil {
		return nil, fmt.Errorf("release idempotency key: %w", err)
	}
	return &commonv1.ReleaseKeyResponse{}, nil
}

// fingerprints of a request. The first is stored.
func fingerprints(req interface {
	GetFingerprint() []byte
	GetOtherFingerprints() [][]byte
},
) [][]byte {
	return append([][]byte{req.GetFingerprint()}, req.GetOtherFingerprints()...)
}

func reused() error {
	return problem.New(problem.IdempotencyKeyReused, "This Idempotency-Key was used before with a different request.")
}

// Stored reports whether err, the outcome of a request with an Idempotency-Key, is stored as its answer.
func Stored(err error) bool {
	if err == nil {
		return true
	}
	p, ok := problem.As(err)
	return ok && storable(p)
}
