package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
)

// serverDeadline bounds a call whose caller set none.
const serverDeadline = 15 * time.Second

var errPanic = errors.New("panic")

type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("%v: %v\n%s", errPanic, p.value, p.stack) }

// recovery turns a panic of the interceptors inside it into an error. A handler's gets no further than
// the errors interceptor, which recovers too, so that what it logs and answers is one thing.
func recovery(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, problem.Internal().Status().Err()
		}
	}()
	return next(ctx, req)
}

// errorsToStatus renders the error of a handler: a problem as itself, a database that is down as
// service_unavailable, anything else as internal_error with its cause in the log only.
func errorsToStatus(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		resp, err := callRecovered(ctx, req, next)
		if err == nil {
			return resp, nil
		}
		p := asProblem(ctx, err)
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return nil, status.FromContextError(ctx.Err()).Err()
		case p.Code == problem.InternalError:
			log.ErrorContext(ctx, "call failed", "method", info.FullMethod, "error", err)
		case p.Code == problem.ServiceUnavailable:
			log.WarnContext(ctx, "dependency unavailable", "method", info.FullMethod, "error", err)
			refuseRetry(ctx)
		}
		return nil, p.Status().Err()
	}
}

// refuseRetry tells the client's retry policy that another instance would answer the same.
func refuseRetry(ctx context.Context) {
	_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1")) // It fails only outside of a call.
}

func callRecovered(ctx context.Context, req any, next grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return next(ctx, req)
}

func asProblem(ctx context.Context, err error) *problem.Error {
	if p, ok := problem.As(err); ok {
		return p
	}
	if postgres.Unavailable(err) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return problem.Unavailable()
	}
	return problem.Internal()
}

func deadline(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if _, set := ctx.Deadline(); set {
		return next(ctx, req)
	}
	ctx, cancel := context.WithTimeout(ctx, serverDeadline)
	defer cancel()
	return next(ctx, req)
}

// readCaller puts principal and request into the context and refuses a request with violations, unless the
// method collects them itself.
func readCaller(collectors []string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		ctx, err := caller.Incoming(ctx)
		if err != nil {
			return nil, fmt.Errorf("caller metadata: %w", err)
		}
		if v := caller.RequestFrom(ctx).Violations; len(v) > 0 && !slices.Contains(collectors, info.FullMethod) {
			return nil, problem.Invalid(v...)
		}
		return next(ctx, req)
	}
}

// untilEnd ends a stream with the lame duck, by its context. A unary call ends by itself, but a
// client that watches health never leaves, and would delay the end by the whole DrainTimeout.
func (s *Server) untilEnd(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	return next(srv, endingStream{ServerStream: stream, ctx: ctx})
}

// endingStream is a stream with another context.
type endingStream struct {
	grpc.ServerStream

	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s endingStream) Context() context.Context { return s.ctx }
