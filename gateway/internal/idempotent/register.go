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
	"github.com/partnergifting/platform/pkg/rpc"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// registerTimeout bounds how long a request waits for its claim, and its response for the release of the claim.
const registerTimeout = 2 * time.Second

// Register makes an Idempotency-Key unique over the operations of all services. The orders service of the tenant's cell keeps the
// register, so that placing an order, the most frequent operation, needs no further call. The context of a call names the cell.
type Register struct {
	Client commonv1.IdempotencyRegisterServiceClient
	Log    *slog.Logger
}

// Keeps reports whether the owner of an operation keeps the register. It then claims the keys of its requests itself.
func (r *Register) Keeps(owner string) bool {
	return owner == string(ordersv1.File_gifting_orders_v1_orders_proto.Package())
}

// Claim claims the key for a call of another service, or returns a status error.
func (r *Register) Claim(ctx context.Context, claim *commonv1.ClaimKeyRequest) error {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	_, err := r.Client.ClaimKey(ctx, claim)
	if rpc.RefusedByOlder(err) { // The first release counts claims, which have no ids.
		claim.ClaimId = ""
		_, err = r.Client.ClaimKey(ctx, claim)
	}
	switch {
	case err == nil:
		return nil
	case rpc.WasCanceled(err): // The caller has left.
		return status.FromContextError(context.Canceled).Err()
	}
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	if p.Code == problem.ServiceUnavailable || p.Code == problem.InternalError {
		r.Log.WarnContext(ctx, "claim idempotency key", "error", err)
	}
	return p.Status().Err()
}

// ReleaseUnlessStored releases the claim after a call with this status error. The claim is kept if the response was stored, and if
// that is unknown: then only the same request may use the key again.
func (r *Register) ReleaseUnlessStored(ctx context.Context, claim *commonv1.ClaimKeyRequest, err error) {
	if !storedNothing(err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), registerTimeout)
	defer cancel()
	release := &commonv1.ReleaseKeyRequest{
		KeyId: claim.GetKeyId(), IdempotencyKey: claim.GetIdempotencyKey(), Fingerprint: claim.GetFingerprint(),
		OtherFingerprints: claim.GetOtherFingerprints(), ClaimId: claim.GetClaimId(),
	}
	_, err = r.Client.ReleaseKey(ctx, release)
	if rpc.RefusedByOlder(err) {
		release.ClaimId = ""
		_, err = r.Client.ReleaseKey(ctx, release)
	}
	if err != nil {
		r.Log.WarnContext(ctx, "release idempotency key", "error", err)
	}
}

// storedNothing reports whether it is certain that no response was stored. It is false after an error of the transport, which
// has no details of the platform, and if the service could not reach its database, which may have committed.
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
