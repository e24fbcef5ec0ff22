package rpc

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	// clientDeadline bounds a call whose context has none.
	clientDeadline = 5 * time.Second
	pingInterval   = 30 * time.Second
	pingTimeout    = 5 * time.Second
	// balance spreads calls over all instances behind a name.
	balance = `{"loadBalancingConfig":[{"round_robin":{}}]}`
)

// Dial makes a client connection; it connects on its own and again after every fault. Further
// interceptors run inside the platform's own.
func Dial(addr string, tel *telemetry.Telemetry, more ...grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	if err := requireLoopback(addr); err != nil {
		return nil, err
	}
	interceptors := append([]grpc.UnaryClientInterceptor{statusToErrors, clientTimeout}, more...)
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(tel.Tracers), otelgrpc.WithMeterProvider(tel.Meters),
			otelgrpc.WithPropagators(propagation.TraceContext{}))),
		grpc.WithChainUnaryInterceptor(interceptors...),
		grpc.WithDefaultServiceConfig(balance),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout, PermitWithoutStream: true}),
	)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", addr, err)
	}
	return conn, nil
}

func clientTimeout(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if _, set := ctx.Deadline(); set {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	ctx, cancel := context.WithTimeout(ctx, clientDeadline)
	defer cancel()
	return invoke(ctx, method, req, reply, cc, opts...)
}

// callError keeps the transport's words for the log beside the problem for the caller.
type callError struct {
	method  string
	status  *status.Status
	problem *problem.Error
}

func (e *callError) Error() string {
	return fmt.Sprintf("call %s: %s: %s", e.method, e.status.Code(), e.status.Message())
}

func (e *callError) Unwrap() error { return e.problem }

func statusToErrors(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err == nil {
		return nil
	}
	st := status.Convert(err)
	return &callError{method: method, status: st, problem: problem.FromStatus(st)}
}
