package edge

import (
	"context"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// ClaimKey claims the Idempotency-Key of a call that a service decides which does not keep the register. It runs
// around SendCaller, right before the call leaves, so that a claim is made only when all checks are passed and is
// settled before the answer leaves.
func ClaimKey(register *idempotent.Register) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		call := func() error { return invoke(ctx, method, req, reply, cc, opts...) }
		c := callFrom(ctx)
		if c == nil || c.request.IdempotencyKey == "" || register.Keeps(c.op.Owner) {
			return call()
		}
		// The register's own calls are the gateway's, not the caller's.
		return register.Hold(withCall(ctx, nil), &commonv1.ClaimKeyRequest{
			KeyId:          c.principal.KeyID,
			IdempotencyKey: c.request.IdempotencyKey,
			Fingerprint:    c.request.Fingerprint,
			Owner:          c.op.Owner,
		}, call)
	}
}
