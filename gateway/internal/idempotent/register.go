package idempotent

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// releaseTimeout bounds how long an answer waits for its claim to be taken back.
const releaseTimeout = 2 * time.Second

// Register makes an Idempotency-Key name one request over the operations of all services. Orders keeps it, so that
// placing an order, the busiest operation, pays nothing for it.
type Register struct {
	Client commonv1.IdempotencyRegisterServiceClient
	Log    *slog.Logger
}

// Keeps says whether the service of the package keeps the register, and so registers its requests itself.
func (r *Register) Keeps(owner string) bool {
	return owner == string(ordersv1.File_gifting_orders_v1_orders_proto.Package())
}

// Hold claims the key around a call of another service. The claim stays when the answer is stored, and when nobody
// knows: the same request may then go on under the key, and no other. call gives the status error of the call.
func (r *Register) Hold(ctx context.Context, claim *commonv1.ClaimKeyRequest, call func() error) error {
	if _, err := r.Client.ClaimKey(ctx, claim); err != nil {
		return r.refused(ctx, err)
	}
	err := call()
	if storedNothing(err) {
		r.release(ctx, claim)
	}
	return err
}

// refused gives the status error of a claim that failed.
func (r *Register) refused(ctx context.Context, err error) error {
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	if p.Code == problem.ServiceUnavailable || p.Code == problem.InternalError {
		r.Log.WarnContext(ctx, "claim idempotency key", "error", err)
	}
	return p.Status().Err()
}

func (r *Register) release(ctx context.Context, claim *commonv1.ClaimKeyRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if _, err := r.Client.ReleaseKey(ctx, &commonv1.ReleaseKeyRequest{
		KeyId: claim.GetKeyId(), IdempotencyKey: claim.GetIdempotencyKey(), Fingerprint: claim.GetFingerprint(),
	}); err != nil {
		r.Log.WarnContext(ctx, "release idempotency key", "error", err)
	}
}

// storedNothing says whether the outcome of a call is known and not stored. A status without the platform's details is
// the transport's, and a service that could not reach its database may have committed: then nobody knows.
func storedNothing(err error) bool {
	if err == nil {
		return false
	}
	st := status.Convert(err)
	answered := slices.ContainsFunc(st.Details(), func(detail any) bool {
		_, ok := detail.(*errdetails.ErrorInfo)
		return ok
	})
	p := problem.FromStatus(st)
	return answered && p.Code != problem.ServiceUnavailable && !idempotency.Stored(p)
}
