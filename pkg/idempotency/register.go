package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	claimForOther = `SELECT idempotency_claim_elsewhere($1, $2, $3, $4)`
	release       = `SELECT idempotency_release($1, $2, $3)`
)

// Register makes an Idempotency-Key name one request of its API key over the operations of all services. It keeps the claims of
// requests to other services in the table of its own service's answers, so that Run finds both without further statements.
//
// A claim is made before its request runs. It is released only when the request is known to have stored nothing. After a crash
// or an unknown outcome the claim stays, and only the same request may use the key until the retention deletes the claim.
type Register struct {
	commonv1.UnimplementedIdempotencyRegisterServiceServer
	pool *pgxpool.Pool
}

// NewRegister makes the register in the database of one service.
func NewRegister(pool *pgxpool.Pool) *Register { return &Register{pool: pool} }

// ClaimKey implements commonv1.IdempotencyRegisterServiceServer.
func (r *Register) ClaimKey(ctx context.Context, req *commonv1.ClaimKeyRequest) (*commonv1.ClaimKeyResponse, error) {
	_, err := r.pool.Exec(ctx, claimForOther, req.GetKeyId(), req.GetIdempotencyKey(), req.GetFingerprint(), req.GetOwner())
	switch {
	case err == nil:
		return &commonv1.ClaimKeyResponse{}, nil
	case postgres.State(err) == stateInProgress:
		return nil, inProgress()
	case postgres.State(err) == stateOtherRequest:
		return nil, reused()
	default:
		return nil, fmt.Errorf("claim idempotency key: %w", err)
	}
}

// ReleaseKey implements commonv1.IdempotencyRegisterServiceServer.
func (r *Register) ReleaseKey(ctx context.Context, req *commonv1.ReleaseKeyRequest) (*commonv1.ReleaseKeyResponse, error) {
	if _, err := r.pool.Exec(ctx, release, req.GetKeyId(), req.GetIdempotencyKey(), req.GetFingerprint()); err != nil {
		return nil, fmt.Errorf("release idempotency key: %w", err)
	}
	return &commonv1.ReleaseKeyResponse{}, nil
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
