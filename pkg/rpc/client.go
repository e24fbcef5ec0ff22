package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	// clientDeadline bounds a call whose context has none.
	clientDeadline = 5 * time.Second
	pingInterval   = 30 * time.Second
	pingTimeout    = 5 * time.Second

	// Clients find a restarted instance within maxBackoff and its jitter. LAME_DUCK is longer by default, so that in a rolling
	// restart every client is connected to the restarted instance before the next one stops.
	firstBackoff   = 50 * time.Millisecond
	maxBackoff     = 3 * time.Second
	connectTimeout = 5 * time.Second

	// serviceConfig spreads calls over all instances of a service. A call that failed because its instance died or was not
	// reached is repeated on another one. The first call may have had its effect. That is harmless for most methods: reads change
	// nothing, and a repeated write finds the claim or answer of the first by its Idempotency-Key or id. A call of the
	// methods that are named fails instead, because they have a second effect:
	//
	//   - CreateKey makes a second key, and the text of the first one is lost.
	//   - RotateWebhookSecret without a request id stops the secret that still signs for the overlap.
	//   - ReopenClaimedGift counts a second try.
	//
	// A server that itself answers UNAVAILABLE forbids the repetition (refuseRetry), because other instances have the same
	// database. One that is too old for a call did nothing, and another instance may be newer. If many calls fail, none is repeated.
	serviceConfig = `{
		"loadBalancingConfig": [{"round_robin": {}}],
		"methodConfig": [
			{"name": [{}], "retryPolicy": {
				"maxAttempts": 4, "initialBackoff": "0.03s", "maxBackoff": "0.5s", "backoffMultiplier": 3,
				"retryableStatusCodes": ["UNAVAILABLE", "UNIMPLEMENTED"]}},
			{"name": [
				{"service": "gifting.tenants.v1.TenantOperationsService", "method": "CreateKey"},
				{"service": "gifting.tenants.v1.TenantOperationsService", "method": "RotateWebhookSecret"},
				{"service": "gifting.personallinks.v1.GiftSiteService", "method": "ReopenClaimedGift"}
			], "retryPolicy": {
				"maxAttempts": 4, "initialBackoff": "0.03s", "maxBackoff": "0.5s", "backoffMultiplier": 3,
				"retryableStatusCodes": ["UNIMPLEMENTED"]}}],
		"retryThrottling": {"maxTokens": 20, "tokenRatio": 0.2}}`
)

// Dial makes a client connection to all instances of a service. It connects in the background and reconnects after failures.
// The caller's own interceptors run inside those of the platform.
func Dial(to Target, tel *telemetry.Telemetry, more ...grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	creds, err := to.credentials(tel)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", to.Service, err)
	}
	peers := newOlderPeers(to.Service, tel.Logger)
	conn, err := grpc.NewClient(instancesScheme+":///"+strings.Join(to.addrs(), ","),
		grpc.WithResolvers(instances{}),
		grpc.WithTransportCredentials(creds),
		grpc.WithChainUnaryInterceptor(peers.interceptors(tel, more)...),
		grpc.WithStreamInterceptor(peers.openStream),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithNoProxy(),              // Programs reach each other without a proxy, whatever the environment says.
		grpc.WithDisableServiceConfig(), // DNS must not change it.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect(), MinConnectTimeout: connectTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout, PermitWithoutStream: true}),
	)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", to.Addr, err)
	}
	return conn, nil
}

func (o *olderPeers) interceptors(tel *telemetry.Telemetry, more []grpc.UnaryClientInterceptor) []grpc.UnaryClientInterceptor {
	outer := append([]grpc.UnaryClientInterceptor{o.statusToErrors, clientTimeout}, more...)
	return append(outer, newClientObserver(tel).call, repeatLost)
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

// callError keeps the transport's message for the log and the problem for the caller.
type callError struct {
	method  string
	status  *status.Status
	problem *problem.Error
}

func (e *callError) Error() string {
	return fmt.Sprintf("call %s: %s: %s", e.method, e.status.Code(), e.status.Message())
}

func (e *callError) Unwrap() error { return e.problem }

// WasCanceled reports whether the error is that of a call that was cancelled.
func WasCanceled(err error) bool {
	call, ok := errors.AsType[*callError](err)
	return ok && call.status.Code() == codes.Canceled
}

func (o *olderPeers) statusToErrors(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	return o.asCallError(ctx, method, invoke(ctx, method, req, reply, cc, opts...))
}

// repeatLost makes a call again whose status was lost (see asCallError), if serviceConfig lets its method be repeated.
// It is innermost: a caller's own interceptor may change the request, and does so once.
func repeatLost(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	policy := cc.GetMethodConfig(method).RetryPolicy
	if errors.Is(err, io.EOF) && policy != nil && policy.RetryableStatusCodes[codes.Unavailable] {
		err = invoke(ctx, method, req, reply, cc, opts...)
	}
	if errors.Is(err, io.EOF) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// asCallError passes on the end of a stream, which is no error. If grpc-go gives up a call after several attempts, and the last one
// was answered before the request was written, it loses the status and returns an error that wraps EOF.
func (o *olderPeers) asCallError(ctx context.Context, method string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // The end of a stream is never wrapped.
		return err
	}
	if errors.Is(err, io.EOF) {
		err = status.Error(codes.Unavailable, err.Error())
	}
	failed := &callError{method: method, status: status.Convert(err)}
	failed.problem = problem.FromStatus(failed.status)
	o.report(ctx, failed)
	return failed
}

const instancesScheme = "instances"

// instances resolves the instances of a service from its addresses: host:port, separated by commas. Each host is an address of
// one instance, or a name that DNS resolves to all instances, as of a headless service.
type instances struct{}

var _ resolver.AuthorityOverrider = instances{}

// Scheme implements resolver.Builder.
func (instances) Scheme() string { return instancesScheme }

// OverrideAuthority returns the first address: a list is not a valid authority.
func (instances) OverrideAuthority(target resolver.Target) string {
	first, _, _ := strings.Cut(target.Endpoint(), ",")
	return first
}

// Build implements resolver.Builder.
func (instances) Build(target resolver.Target, cc resolver.ClientConn, opts resolver.BuildOptions) (resolver.Resolver, error) {
	all := &allNames{conn: cc}
	for addr := range strings.SplitSeq(target.Endpoint(), ",") {
		all.names = append(all.names, &oneName{all: all, addr: addr})
	}
	for _, name := range all.names {
		target := resolver.Target{URL: url.URL{Scheme: "dns", Path: "/" + name.addr}}
		resolving, err := resolver.Get("dns").Build(target, name, opts)
		if err != nil {
			all.Close()
			return nil, err
		}
		name.resolving = resolving
	}
	return all, nil
}

// allNames reports to the connection what all its names resolve to.
type allNames struct {
	conn  resolver.ClientConn
	names []*oneName

	lock sync.Mutex
}

// ResolveNow implements resolver.Resolver.
func (a *allNames) ResolveNow(opts resolver.ResolveNowOptions) {
	for _, name := range a.names {
		name.resolving.ResolveNow(opts)
	}
}

// Close implements resolver.Resolver.
func (a *allNames) Close() {
	for _, name := range a.names {
		if name.resolving != nil {
			name.resolving.Close()
		}
	}
}

// report passes all known endpoints to the connection. The caller holds the lock, so that the newest state is passed last.
func (a *allNames) report() error {
	var known []resolver.Endpoint
	for _, name := range a.names {
		known = append(known, name.endpoints...)
	}
	return a.conn.UpdateState(resolver.State{Endpoints: known})
}

// oneName is what the resolver of one name reports to.
type oneName struct {
	all       *allNames
	addr      string
	resolving resolver.Resolver
	endpoints []resolver.Endpoint
}

// UpdateState implements resolver.ClientConn.
func (n *oneName) UpdateState(state resolver.State) error {
	n.all.lock.Lock()
	defer n.all.lock.Unlock()
	n.endpoints = nil
	for _, found := range state.Endpoints {
		addrs := slices.Clone(found.Addresses)
		for i := range addrs {
			addrs[i].ServerName = n.addr // A certificate is for one name, not for the list.
		}
		n.endpoints = append(n.endpoints, resolver.Endpoint{Addresses: addrs, Attributes: found.Attributes})
	}
	return n.all.report()
}

// ReportError keeps the addresses that the name resolved to before. It is passed on only if no name has an address.
func (n *oneName) ReportError(err error) {
	n.all.lock.Lock()
	defer n.all.lock.Unlock()
	if !slices.ContainsFunc(n.all.names, func(name *oneName) bool { return len(name.endpoints) > 0 }) {
		n.all.conn.ReportError(err)
	}
}

// NewAddress implements resolver.ClientConn; no resolver calls it any more.
func (n *oneName) NewAddress(addrs []resolver.Address) {
	_ = n.UpdateState(resolver.State{Endpoints: []resolver.Endpoint{{Addresses: addrs}}})
}

var errNoServiceConfig = errors.New("service configurations come from this package only")

// ParseServiceConfig implements resolver.ClientConn.
func (n *oneName) ParseServiceConfig(string) *serviceconfig.ParseResult {
	return &serviceconfig.ParseResult{Err: errNoServiceConfig}
}
