package rpc

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
)

// During an upgrade and after a rollback, callers may be newer than a server. What a newer caller sends has an effect, such as a
// condition on a change. A server that ignored it would do what nobody asked for. So it refuses the request before it does
// anything, and the client repeats the call on another instance, which may be newer. Responses are different: a client ignores
// what it does not know of them.

// callerIsNewer is the reason in the ErrorInfo of such a refusal.
const callerIsNewer = "caller_is_newer"

// newerKey is the key of what markNewer has found.
type newerKey struct{}

// markNewer notes metadata of the platform that this version does not know. It sees the headers of the call without copying them,
// unlike an interceptor.
func markNewer(ctx context.Context, info *tap.Info) context.Context {
	if isBuiltIn(info.FullMethodName) {
		return ctx
	}
	if err := caller.CheckHeaders(info.Header); err != nil {
		return context.WithValue(ctx, newerKey{}, err)
	}
	return ctx
}

// checkKnown returns an *caller.UnknownError for a request that this version does not know completely.
func checkKnown(req any) error {
	if m, ok := req.(proto.Message); ok {
		return caller.CheckKnown(m)
	}
	return nil
}

func refuseNewer(method string, newer *caller.UnknownError) error {
	return withInfo(status.New(codes.Unavailable, "The caller is newer than this instance: "+newer.Error()+". Nothing was done."),
		&errdetails.ErrorInfo{Reason: callerIsNewer, Domain: problem.Domain, Metadata: map[string]string{"service": serviceOf(method)}})
}

// olderLogInterval is how often it is logged that a peer is too old for a method.
const olderLogInterval = time.Minute

// olderPeers reports the calls that failed because all instances of a service that could be tried are older than this program.
type olderPeers struct {
	service identity.Name
	log     *slog.Logger
	logged  *logLimit
}

func newOlderPeers(service identity.Name, log *slog.Logger) *olderPeers {
	return &olderPeers{service: service, log: log, logged: newLogLimit(olderLogInterval, time.Now)}
}

func (o *olderPeers) report(ctx context.Context, failed *callError) {
	if !failed.refusedByOlder() {
		return
	}
	if skipped, ok := o.logged.due(failed.method); ok {
		o.log.WarnContext(ctx, "a service is older than this program and refused a call", "service", o.service,
			"method", failed.method, "error", failed.status.Message(), "not_logged", skipped)
	}
}

// refusedByOlder reports whether the server does not have the method, or knows less of the request than this program.
func (e *callError) refusedByOlder() bool {
	for _, detail := range e.status.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == problem.Domain {
			return info.GetReason() == callerIsNewer
		}
	}
	return e.status.Code() == codes.Unimplemented
}

// RefusedByOlder reports whether the error is that of a call that a service refused because it is older than this program. The
// client has logged it.
func RefusedByOlder(err error) bool {
	call, ok := errors.AsType[*callError](err)
	return ok && call.refusedByOlder()
}
