// Package rpc builds the platform's gRPC servers and clients, with the same interceptors, limits, deadlines, health checks,
// reflection and graceful end everywhere.
//
// A server handles a call in this order: deadline, observation, recovery, gate (who may call what), decoding, gate (for whom),
// errors (also renders panics), caller. What a newer caller sends and this version does not know is refused (newer.go). A stream
// of a service passes the same steps (stream.go), but has no deadline of the server: it ends with UNAVAILABLE when LameDuck is
// over. A client turns every failed call into an error that carries a *problem.Error.
//
// Calls use mutual TLS (package identity). The file callers.go says who may call what. A process without certificate files uses
// plain text, only on loopback addresses; there every caller may call everything.
//
// A client spreads its calls over all instances of a service (type instances). An instance that is stopped loses no call: it
// reports that it is not ready, takes calls for LameDuck, then disconnects its clients and finishes running calls. Calls cut
// off by a crash are repeated on another instance, except those that would have a second effect (serviceConfig).
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/tap"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Config of a gRPC server.
type Config struct {
	// Addr is host:port. Without transport security it must be a loopback address.
	Addr         string        `env:"GRPC_ADDR,required" check:"listen" doc:"host:port that the gRPC server listens on."`
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" check:"min=1s" doc:"How long a stopping server waits for calls in flight."`
	LameDuck     time.Duration `env:"LAME_DUCK" envDefault:"5s" check:"min=0s,max=5m" doc:"How long a stopping server still accepts calls, so that callers can move to other instances."`
	Calls        int32         `env:"GRPC_CALLS" envDefault:"1000" check:"min=1" doc:"Maximum number of calls in flight on one connection to the gRPC server; further ones wait in the client."`
	// TLS is the certificate of the process, as a server and as a client.
	TLS identity.Config `envPrefix:"TLS_"`
}

const (
	// maxMessageBytes has room for the API's largest body of 10 MB in its wire form.
	maxMessageBytes = 32 << 20
	minPingInterval = 10 * time.Second
	workersPerCPU   = 8
	// maxConnectionAge makes clients find new instances: they resolve a name again when a connection ends. Running calls have
	// the grace period, which is longer than any call: those that count or erase a large tenant have a quarter of an hour.
	maxConnectionAge      = 5 * time.Minute
	maxConnectionAgeGrace = 16 * time.Minute
	// handshakeTimeout bounds the handshake. The end waits for open handshakes even past DrainTimeout and disconnects clients
	// only afterwards, so one silent connection must not delay it.
	handshakeTimeout = 5 * time.Second
)

// Server is a gRPC server under construction: register services on it, then Run.
type Server struct {
	*grpc.Server
	cfg    Config
	log    *slog.Logger
	health *health.Server
	// held keeps health NOT_SERVING until it is closed; it may be nil.
	held     <-chan struct{}
	observer *observer
	gate     gate
	// innermost runs right around the handlers; it may be nil.
	innermost grpc.UnaryServerInterceptor
	// serving means that it listens and is not about to end.
	serving atomic.Bool
	// streaming are the full names of the methods that are streams.
	streaming map[string]bool
	// streams is the context of all streams; endStreams cancels it.
	streams    context.Context
	endStreams context.CancelFunc
}

// NewServer builds a server. collectors are the full names of the methods that report the edge's violations together with their
// own (package fields); every other method refuses a request with such violations before it runs.
func NewServer(cfg Config, tel *telemetry.Telemetry, collectors ...string) (*Server, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	options, err := secured(cfg.TLS, tel)
	if err != nil {
		return nil, fmt.Errorf("grpc server: %w", err)
	}
	s := &Server{
		cfg: cfg, log: tel.Logger, health: health.NewServer(), observer: newServerObserver(tel),
		gate: gate{log: tel.Logger, open: !cfg.TLS.Secure()}, streaming: map[string]bool{},
	}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.Server = grpc.NewServer(append(options,
		grpc.InTapHandle(s.tap),
		grpc.ChainUnaryInterceptor(
			s.gate.unary,
			errorsToStatus(tel.Logger),
			readCaller(collectors),
			s.intercept,
		),
		grpc.ChainStreamInterceptor(s.observer.serveStream, s.gate.stream, s.untilEnd, s.serveStream(collectors)),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.MaxConcurrentStreams(uint32(cfg.Calls)), //nolint:gosec // It is positive.
		grpc.MaxRecvMsgSize(maxMessageBytes),
		// Workers keep their grown stacks, which new goroutines would have to grow for every call. Further calls get new
		// goroutines.
		grpc.NumStreamWorkers(uint32(workersPerCPU*runtime.GOMAXPROCS(0))), //nolint:gosec // A small number.
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge:      maxConnectionAge,
			MaxConnectionAgeGrace: maxConnectionAgeGrace,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPingInterval, PermitWithoutStream: true}),
	)...)
	healthpb.RegisterHealthServer(s, levelHealth{s.health})
	return s, nil
}

// Intercept lets i run right around every handler. It is called once, before Run.
func (s *Server) Intercept(i grpc.UnaryServerInterceptor) { s.innermost = i }

func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if s.innermost == nil {
		return next(ctx, req)
	}
	return s.innermost(ctx, req, info, next)
}

// HoldHealth keeps health NOT_SERVING until the channel is closed, though calls are served. It is called once, before Run.
func (s *Server) HoldHealth(until <-chan struct{}) { s.held = until }

// serveHealth reports that the services serve as soon as nothing holds that back.
func (s *Server) serveHealth(ctx context.Context) {
	if s.held == nil {
		s.setHealth(healthpb.HealthCheckResponse_SERVING)
		return
	}
	s.setHealth(healthpb.HealthCheckResponse_NOT_SERVING)
	go func() {
		select {
		case <-s.held:
			s.setHealth(healthpb.HealthCheckResponse_SERVING) // Without effect after drain.
		case <-ctx.Done():
		}
	}()
}

func (s *Server) setHealth(status healthpb.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", status)
	for name := range s.GetServiceInfo() {
		s.health.SetServingStatus(name, status)
	}
}

var errNotLoopback = errors.New("plain text is allowed on loopback addresses only")

// Run listens and serves until ctx ends. Then health is NOT_SERVING and Ready returns an error, while calls are taken for
// LameDuck. After that clients are disconnected, and running calls have DrainTimeout to finish.
func (s *Server) Run(ctx context.Context) error {
	if !s.cfg.TLS.Secure() {
		if err := requireLoopback(s.cfg.Addr); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("grpc port: %w", err)
	}
	reflection.Register(s)
	s.serveHealth(ctx)
	message := "serving gRPC in plain text on loopback"
	if s.cfg.TLS.Secure() {
		message = "serving gRPC with mutual TLS"
	}
	s.log.InfoContext(ctx, message, "addr", listener.Addr().String(), "contract_level", ContractLevel)
	s.serving.Store(true)
	stopped := context.AfterFunc(ctx, s.drain)
	defer stopped()
	if err := s.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("grpc server: %w", err)
	}
	return nil
}

// Ready returns an error unless the server takes calls and is not about to end.
func (s *Server) Ready(context.Context) error {
	if !s.serving.Load() {
		return errNotServing
	}
	return nil
}

var errNotServing = errors.New("the gRPC server does not listen yet, or is about to end")

func (s *Server) drain() {
	s.serving.Store(false)
	s.health.Shutdown()
	s.log.Info("stopping: calls are still taken for a while", "lame_duck", s.cfg.LameDuck)
	<-time.After(s.cfg.LameDuck)
	s.endStreams()
	force := time.AfterFunc(s.cfg.DrainTimeout, s.Stop)
	defer force.Stop()
	s.GracefulStop()
}

func requireLoopback(addrs ...string) error {
	for _, addr := range addrs {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return fmt.Errorf("grpc address: %w", err)
		}
		if !netguard.IsLoopback(host) {
			return fmt.Errorf("%w: %s", errNotLoopback, addr)
		}
	}
	return nil
}

// RegisterService implements grpc.ServiceRegistrar. gRPC decodes a request before its interceptors run, so a method's handler is
// wrapped: the call is observed and its caller checked before a byte is decoded. Streams need no wrapping, because their handlers
// receive inside the interceptors.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	guarded := *desc
	guarded.Methods = slices.Clone(desc.Methods)
	for i, method := range guarded.Methods {
		guarded.Methods[i].Handler = s.guard(desc.ServiceName, method)
	}
	for _, method := range desc.Streams {
		s.streaming["/"+desc.ServiceName+"/"+method.StreamName] = true
	}
	s.Server.RegisterService(&guarded, impl)
}

func (s *Server) guard(service string, method grpc.MethodDesc) grpc.MethodHandler {
	info := &grpc.UnaryServerInfo{FullMethod: "/" + service + "/" + method.MethodName}
	return func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		return s.observer.serve(ctx, nil, info, func(ctx context.Context, _ any) (resp any, err error) {
			defer hidePanic(&err)
			if err := s.gate.admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return method.Handler(srv, ctx, decode, intercept)
		})
	}
}

// serverDeadline bounds a call whose caller set none.
const serverDeadline = 15 * time.Second

// tap sees the headers of a call before anything else.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	return s.deadline(markNewer(ctx, info), info), nil
}

// deadline bounds a call whose caller set none, except a stream, which may be open for ever. It begins with the call's headers, so
// that a caller who announces a message must also send it.
func (s *Server) deadline(ctx context.Context, info *tap.Info) context.Context {
	if _, set := ctx.Deadline(); set || s.streaming[info.FullMethodName] {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, serverDeadline)
	context.AfterFunc(ctx, cancel)
	return ctx
}
