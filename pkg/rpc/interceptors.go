package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	codepb "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

var errPanic = errors.New("panic")

type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("%v: %v\n%s", errPanic, p.value, p.stack) }

// asError is deferred, and turns a panic into an error.
func asError(err *error) {
	if value := recover(); value != nil {
		*err = &panicError{value: value, stack: debug.Stack()}
	}
}

// hidePanic is deferred around the interceptors. A handler's panic becomes an error before (asError), so that it is logged and
// rendered like other errors.
func hidePanic(err *error) {
	if recover() != nil {
		*err = problem.Internal().Status().Err()
	}
}

// errorsToStatus renders the error of a handler: a problem as itself, a database that is down as
// service_unavailable, anything else as internal_error with its cause in the log only.
func errorsToStatus(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		resp, err := callRecovered(ctx, req, next)
		if err != nil {
			return nil, render(ctx, log, info.FullMethod, err)
		}
		return resp, nil
	}
}

func render(ctx context.Context, log *slog.Logger, method string, err error) error {
	if newer, ok := errors.AsType[*caller.UnknownError](err); ok {
		return refuseNewer(method, newer)
	}
	p := asProblem(ctx, err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return status.FromContextError(ctx.Err()).Err()
	case p.Code == problem.InternalError:
		log.ErrorContext(ctx, "call failed", "method", method, "error", err)
	case p.Code == problem.ServiceUnavailable:
		if !RefusedByOlder(err) {
			log.WarnContext(ctx, "dependency unavailable", "method", method, "error", err)
		}
		refuseRetry(ctx)
	}
	return p.Status().Err()
}

// refuseRetry tells the client not to retry, because another instance would answer the same.
func refuseRetry(ctx context.Context) {
	_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1")) // It fails only outside of a call.
}

func callRecovered(ctx context.Context, req any, next grpc.UnaryHandler) (resp any, err error) {
	defer asError(&err)
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

// readCaller puts principal and request into the context and refuses a request with violations, unless the
// method collects them itself. It refuses a request that this version does not know completely.
func readCaller(collectors []string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		ctx, err := withCaller(ctx, info.FullMethod, collectors)
		if err == nil && !isBuiltIn(info.FullMethod) {
			err = checkKnown(req)
		}
		if err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

func withCaller(ctx context.Context, method string, collectors []string) (context.Context, error) {
	if newer, ok := ctx.Value(newerKey{}).(error); ok {
		return ctx, newer
	}
	with, err := caller.Incoming(ctx)
	if err != nil {
		return ctx, fmt.Errorf("caller metadata: %w", err)
	}
	if v := caller.RequestFrom(with).Violations; len(v) > 0 && !slices.Contains(collectors, method) {
		return ctx, problem.Invalid(v...)
	}
	return with, nil
}

const scope = "github.com/partnergifting/platform/pkg/rpc"

// observer measures unary calls except health checks and, with tracing, makes a span of each. Trace ids are passed on in any
// case, because the logs of all services have them.
type observer struct {
	spans    trace.Tracer // nil without tracing.
	kind     trace.SpanKind
	duration metric.Float64Histogram
	// failed reports whether an outcome is an error of this side.
	failed func(code grpccodes.Code) bool
	// samplingInherited means that a trace is recorded by all services or by none.
	samplingInherited bool
}

func newServerObserver(tel *telemetry.Telemetry) *observer {
	return newObserver(tel, trace.SpanKindServer, "rpc.server.call.duration", "Duration of calls served.", serverError)
}

func newClientObserver(tel *telemetry.Telemetry) *observer {
	return newObserver(tel, trace.SpanKindClient, "rpc.client.call.duration", "Duration of calls made.",
		func(code grpccodes.Code) bool { return code != grpccodes.OK })
}

func newObserver(
	tel *telemetry.Telemetry, kind trace.SpanKind, name, description string, failed func(grpccodes.Code) bool,
) *observer {
	duration, err := tel.Meters.Meter(scope).Float64Histogram(name,
		metric.WithUnit("s"), metric.WithDescription(description), telemetry.Durations())
	if err != nil {
		panic(fmt.Sprintf("metric of calls: %v", err)) // The name is a constant, so this fails only in a broken build.
	}
	o := &observer{kind: kind, duration: duration, failed: failed, samplingInherited: tel.SamplingInherited}
	if tel.Tracing {
		o.spans = tel.Tracers.Tracer(scope)
	}
	return o
}

func (o *observer) serve(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if info.FullMethod == healthpb.Health_Check_FullMethodName {
		return next(ctx, req)
	}
	began := time.Now()
	ctx, span := o.start(extract(ctx), info.FullMethod)
	resp, err := next(ctx, req)
	o.end(ctx, span, info.FullMethod, err, time.Since(began))
	return resp, err
}

func (o *observer) call(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if method == healthpb.Health_Check_FullMethodName {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	began := time.Now()
	ctx, span := o.start(ctx, method)
	err := invoke(inject(ctx), method, req, reply, cc, opts...)
	o.end(ctx, span, method, err, time.Since(began))
	return err
}

// start returns nil for a call without a span.
func (o *observer) start(ctx context.Context, method string) (context.Context, trace.Span) {
	if o.spans == nil {
		return ctx, nil
	}
	// A span that is not recorded would still cost an id, a look at the sampler and a context.
	if parent := trace.SpanContextFromContext(ctx); o.samplingInherited && parent.IsValid() && !parent.IsSampled() {
		return ctx, nil
	}
	ctx, span := o.spans.Start(ctx, method[1:], trace.WithSpanKind(o.kind))
	if span.IsRecording() {
		span.SetAttributes(semconv.RPCSystemNameGRPC, semconv.RPCMethod(method[1:]))
	}
	return ctx, span
}

// end leaves out the status's message, which may repeat what a caller wrote.
func (o *observer) end(ctx context.Context, span trace.Span, method string, err error, took time.Duration) {
	code := status.Code(err)
	o.duration.Record(ctx, took.Seconds(), metric.WithAttributes(labels(method, code)...))
	endSpan(span, code, o.failed(code))
}

func endSpan(span trace.Span, code grpccodes.Code, failed bool) {
	if span == nil {
		return
	}
	if span.IsRecording() {
		span.SetAttributes(semconv.RPCResponseStatusCode(name(code)))
		if failed {
			span.SetAttributes(semconv.ErrorTypeKey.String(name(code)))
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

func labels(method string, code grpccodes.Code) []attribute.KeyValue {
	all := []attribute.KeyValue{
		semconv.RPCSystemNameGRPC, semconv.RPCMethod(method[1:]), semconv.RPCResponseStatusCode(name(code)),
	}
	if code != grpccodes.OK {
		all = append(all, semconv.ErrorTypeKey.String(name(code)))
	}
	return all
}

// serverError says which codes are errors of a server in the semantic conventions.
func serverError(code grpccodes.Code) bool {
	switch code {
	case grpccodes.Unknown, grpccodes.DeadlineExceeded, grpccodes.Unimplemented, grpccodes.Internal,
		grpccodes.Unavailable, grpccodes.DataLoss:
		return true
	default:
		return false
	}
}

// name is the code as the semantic conventions write it, such as NOT_FOUND.
func name(code grpccodes.Code) string {
	return codepb.Code(code).String() //nolint:gosec // There are seventeen of them.
}

const parentHeader = "traceparent"

func extract(ctx context.Context) context.Context {
	found := metadata.ValueFromIncomingContext(ctx, parentHeader)
	if len(found) != 1 {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, telemetry.ParseTraceParent(found[0]))
}

func inject(ctx context.Context) context.Context {
	parent := telemetry.TraceParent(ctx)
	if parent == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, parentHeader, parent)
}
