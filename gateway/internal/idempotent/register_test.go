package idempotent_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// claims is a fake register that counts the current claims.
type claims struct {
	current int
	refusal error
}

func (c *claims) ClaimKey(context.Context, *commonv1.ClaimKeyRequest, ...grpc.CallOption) (*commonv1.ClaimKeyResponse, error) {
	if c.refusal != nil {
		return nil, c.refusal
	}
	c.current++
	return &commonv1.ClaimKeyResponse{}, nil
}

func (c *claims) ReleaseKey(
	ctx context.Context, _ *commonv1.ReleaseKeyRequest, _ ...grpc.CallOption,
) (*commonv1.ReleaseKeyResponse, error) {
	c.current--
	return &commonv1.ReleaseKeyResponse{}, ctx.Err()
}

func TestAClaimIsKeptUnlessNothingWasStored(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		outcome error
		kept    bool
	}{
		"a success":                                 {nil, true},
		"a stored refusal":                          {problem.New(problem.NoRecipients, "x"), true},
		"a violation":                               {problem.Invalid(), false},
		"no such record":                            {problem.RecordNotFound(), false},
		"the same request runs":                     {problem.New(problem.IdempotencyInProgress, "x"), false},
		"the owner knows another request":           {problem.New(problem.IdempotencyKeyReused, "x"), false},
		"a failure of the service":                  {problem.Internal(), false},
		"a database that may have stored":           {problem.Unavailable(), true},
		"a lost connection":                         {status.Error(codes.Unavailable, "reset"), true},
		"a cancelled call":                          {status.Error(codes.Canceled, "gone"), true},
		"an error of the transport":                 {status.Error(codes.Internal, "stream"), true},
		"a refusal without details of the platform": {status.Error(codes.InvalidArgument, "proxy"), true},
	} {
		t.Run(name, func(t *testing.T) {
			client := &claims{}
			register := &idempotent.Register{Client: client, Log: slog.New(slog.DiscardHandler)}
			ctx, cancel := context.WithCancel(t.Context())
			require.NoError(t, register.Claim(ctx, &commonv1.ClaimKeyRequest{}))
			cancel() // A caller that leaves changes nothing.
			register.ReleaseUnlessStored(ctx, &commonv1.ClaimKeyRequest{}, tc.outcome)
			require.Equal(t, tc.kept, client.current == 1)
		})
	}
}

// first is a register of the first release, which refuses what it does not know: the id of a claim.
type first struct {
	claims

	refuse func() error
}

func (f *first) ClaimKey(
	ctx context.Context, req *commonv1.ClaimKeyRequest, opts ...grpc.CallOption,
) (*commonv1.ClaimKeyResponse, error) {
	if req.GetClaimId() != "" {
		return nil, f.refuse()
	}
	return f.claims.ClaimKey(ctx, req, opts...)
}

func (f *first) ReleaseKey(
	ctx context.Context, req *commonv1.ReleaseKeyRequest, opts ...grpc.CallOption,
) (*commonv1.ReleaseKeyResponse, error) {
	if req.GetClaimId() != "" {
		return nil, f.refuse()
	}
	return f.claims.ReleaseKey(ctx, req, opts...)
}

// After a rollback the service may be older than the gateway.
func TestTheFirstReleaseCountsClaims(t *testing.T) {
	t.Parallel()
	unknown := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return status.Error(codes.Unimplemented, "unknown method")
	}
	conn, err := rpc.Dial(rpc.Target{Service: identity.Orders, Addr: "127.0.0.1:1"}, telemetry.Discard(), unknown)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	client := &first{refuse: func() error {
		return conn.Invoke(t.Context(), commonv1.IdempotencyRegisterService_ClaimKey_FullMethodName,
			&commonv1.ClaimKeyRequest{}, &commonv1.ClaimKeyResponse{})
	}}
	register := &idempotent.Register{Client: client, Log: slog.New(slog.DiscardHandler)}
	claim := &commonv1.ClaimKeyRequest{ClaimId: "0198f2e4-0000-7000-8000-000000000001"}
	require.NoError(t, register.Claim(t.Context(), claim))
	require.Equal(t, 1, client.current)
	claim.ClaimId = "0198f2e4-0000-7000-8000-000000000001" // The claim was made before the rollback.
	register.ReleaseUnlessStored(t.Context(), claim, problem.RecordNotFound())
	require.Zero(t, client.current)
}

func TestAClaimThatFails(t *testing.T) {
	t.Parallel()
	for code, failure := range map[problem.Code]error{
		problem.IdempotencyKeyReused: problem.New(problem.IdempotencyKeyReused, "x"),
		problem.ServiceUnavailable:   problem.Unavailable(),
		problem.InternalError:        status.Error(codes.Unknown, "x"),
	} {
		register := &idempotent.Register{Client: &claims{refusal: failure}, Log: slog.New(slog.DiscardHandler)}
		err := register.Claim(t.Context(), &commonv1.ClaimKeyRequest{})
		require.Equal(t, code, problem.FromStatus(status.Convert(err)).Code)
	}
}
