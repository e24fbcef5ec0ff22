package caller

import (
	"context"
	"fmt"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	principalHeader = "gifting-principal-bin"
	requestHeader   = "gifting-request-bin"

	// ReplayedHeader is set on a gRPC answer that was stored by an earlier call.
	ReplayedHeader = "gifting-replayed"
)

// Outgoing returns a context whose gRPC calls carry p and r. Only the gateway calls it.
func Outgoing(ctx context.Context, p Principal, r Request) (context.Context, error) {
	principal, err := proto.Marshal(p.Proto())
	if err != nil {
		return nil, fmt.Errorf("encode principal: %w", err)
	}
	request, err := proto.Marshal(r.proto())
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return metadata.AppendToOutgoingContext(ctx,
		principalHeader, string(principal), requestHeader, string(request)), nil
}

// Carried says whether a call brings a principal or a request with it.
func Carried(ctx context.Context) bool {
	return len(metadata.ValueFromIncomingContext(ctx, principalHeader)) > 0 ||
		len(metadata.ValueFromIncomingContext(ctx, requestHeader)) > 0
}

// Incoming moves principal and request from a call's metadata into its context.
func Incoming(ctx context.Context) (context.Context, error) {
	if raw := metadata.ValueFromIncomingContext(ctx, principalHeader); len(raw) == 1 {
		var p commonv1.Principal
		if err := proto.Unmarshal([]byte(raw[0]), &p); err != nil {
			return nil, fmt.Errorf("decode principal: %w", err)
		}
		ctx = WithPrincipal(ctx, FromProto(&p))
	}
	if raw := metadata.ValueFromIncomingContext(ctx, requestHeader); len(raw) == 1 {
		var r commonv1.Request
		if err := proto.Unmarshal([]byte(raw[0]), &r); err != nil {
			return nil, fmt.Errorf("decode request: %w", err)
		}
		ctx = WithRequest(ctx, requestFromProto(&r))
	}
	return ctx, nil
}
