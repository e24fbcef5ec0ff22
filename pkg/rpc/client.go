package rpc

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
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

	// An instance that is back is found within maxBackoff and its jitter. LAME_DUCK is longer by default, so that
	// in a rolling restart every client is connected to the last instance restarted before the next one goes.
	firstBackoff   = 50 * time.Millisecond
	maxBackoff     = 3 * time.Second
	connectTimeout = 5 * time.Second

	// serviceConfig spreads calls over all instances of a service, and repeats on another instance a call that was
	// cut off: by a process that died, or before one was reached. That is safe for every method. Reading changes
	// nothing; a write carries an Idempotency-Key or the id of what it makes, and its second run finds the first
	// one's claim or answer. A server that answers UNAVAILABLE by itself says not to repeat (refuseRetry): another
	// instance has the same database. Where more than a part of the calls fail, nothing is repeated.
	serviceConfig = `{
		"loadBalancingConfig": [{"round_robin": {}}],
		"methodConfig": [{"name": [{}], "retryPolicy": {
			"maxAttempts": 4, "initialBackoff": "0.03s", "maxBackoff": "0.5s", "backoffMultiplier": 3,
			"retryableStatusCodes": ["UNAVAILABLE"]}}],
		"retryThrottling": {"maxTokens": 20, "tokenRatio": 0.2}}`
)

// Dial makes a client connection to all instances of a service; it connects on its own and again
// after every failure. Further interceptors run inside the platform's own.
func Dial(to Target, tel *telemetry.Telemetry, more ...grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	secrecy, err := to.credentials(tel)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", to.Service, err)
	}
	interceptors := append([]grpc.UnaryClientInterceptor{statusToErrors, clientTimeout}, more...)
	interceptors = append(interceptors, newClientObserver(tel).call)
	conn, err := grpc.NewClient(instancesScheme+":///"+to.Addr,
		grpc.WithResolvers(instances{}),
		grpc.WithTransportCredentials(secrecy),
		grpc.WithChainUnaryInterceptor(interceptors...),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithNoProxy(),              // The parts are each other's neighbours, whatever the environment says of proxies.
		grpc.WithDisableServiceConfig(), // DNS has no say in it.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect(), MinConnectTimeout: connectTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes)),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout, PermitWithoutStream: true}),
	)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", to.Addr, err)
	}
	return conn, nil
}

func reconnect() backoff.Config {
	b := backoff.DefaultConfig
	b.BaseDelay, b.MaxDelay = firstBackoff, maxBackoff
	return b
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
