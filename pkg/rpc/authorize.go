package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// The reasons in the ErrorInfo of a refusal. They are not codes of the API: the edge renders them as internal errors.
const (
	callerNotAllowed    = "caller_not_allowed"
	principalNotAllowed = "principal_not_allowed"
	actorNotAllowed     = "actor_not_allowed"
)

// gate checks every call against the table of callers. The caller is identified once per connection, so a call costs only a
// look-up.
type gate struct {
	log *slog.Logger
	// open means that the server is in plain text on loopback, where callers have no identity.
	open bool
}

// admit checks whether the caller may call the method.
func (g gate) admit(ctx context.Context, method string) error {
	if g.open {
		return nil
	}
	from := callerOf(ctx)
	if reason := from.refusalReason(ctx, method); reason != "" {
		return g.refusal(ctx, reason, from, method)
	}
	return nil
}

// unary checks whether the caller may call the method and may act for the actor in the request. Server.guard has already called
// admit, before the request was decoded; the call here covers services registered without a guard.
func (g gate) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := g.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	if from := callerOf(ctx); !g.open && !from.mayActAs(req) {
		return nil, g.refusal(ctx, actorNotAllowed, from, info.FullMethod)
	}
	return next(ctx, req)
}

// stream checks whether the caller may call the method. receivingStream checks the actor of each message.
func (g gate) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := g.admit(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, stream)
}

// callerOf returns the caller, or nil without a certificate.
func callerOf(ctx context.Context) *callerInfo {
	if p, ok := peer.FromContext(ctx); ok {
		if known, ok := p.AuthInfo.(*callerInfo); ok {
			return known
		}
	}
	return nil
}

// refusalReason returns why the caller may not make the call, or "" if it may.
func (c *callerInfo) refusalReason(ctx context.Context, method string) string {
	switch {
	case c == nil || !c.grant.mayCall(serviceOf(method)):
		return callerNotAllowed
	case !c.grant.sendsPrincipal && caller.HasMetadata(ctx):
		return principalNotAllowed
	default:
		return ""
	}
}

func (g grant) mayCall(service string) bool { return g.services[service] || service == healthService }

// mayActAs reports whether the caller may act for the kind of actor that the request names; a request that names none passes. The
// service checks everything else about the actor.
func (c *callerInfo) mayActAs(req any) bool {
	acting, ok := req.(interface{ GetActor() *commonv1.Actor })
	if !ok {
		return true
	}
	kind := acting.GetActor().GetKind()
	return kind == commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED || slices.Contains(c.grant.actors, kind)
}

// serviceOf returns the service of /package.Service/Method.
func serviceOf(method string) string {
	return strings.TrimPrefix(method[:max(0, strings.LastIndexByte(method, '/'))], "/")
}

func (g gate) refusal(ctx context.Context, reason string, from *callerInfo, method string) error {
	name := ""
	if from != nil {
		name = string(from.name)
	}
	g.log.WarnContext(ctx, "call refused", "caller", name, "method", method, "reason", reason)
	refused := status.New(codes.PermissionDenied, fmt.Sprintf("%s may not make this call: %s.", name, reason))
	return withInfo(refused, &errdetails.ErrorInfo{
		Reason: reason, Domain: problem.Domain, Metadata: map[string]string{"caller": name, "service": serviceOf(method)},
	})
}

func withInfo(refused *status.Status, info *errdetails.ErrorInfo) error {
	detailed, err := refused.WithDetails(protoadapt.MessageV1Of(info))
	if err != nil {
		return refused.Err() // Never here: WithDetails fails only for an OK status.
	}
	return detailed.Err()
}
