// Package rpc builds the platform's gRPC servers and clients: one place for the order of
// interceptors, limits, deadlines, health, reflection and the graceful end.
//
// A server's interceptors run in this order: observation, which sees what is answered, recovery, gate
// (who may call what), errors (so that a panic is rendered like any other error), deadline, caller. A
// client turns every failed call into an error that carries a *problem.Error.
//
// Calls are secured by mutual TLS (package identity), and the file callers.go is the list of who may
// call what. A process without certificate files speaks plain text, on loopback addresses only, and
// there every caller may call everything.
//
// A client spreads its calls over all instances of a service (type instances), and an instance that
// is stopped loses none: it says that it is not ready, takes calls for LameDuck, then lets its
// clients go and finishes what runs. What a process that died cuts off is repeated on another one.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Config of a gRPC server.
type Config struct {
	// Addr is host:port. Without transport security only a loopback address is taken.
	Addr         string        `env:"GRPC_ADDR,required" check:"listen" doc:"host:port the gRPC server listens on."`
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" check:"min=1s" doc:"How long the end waits for running calls."`
	LameDuck     time.Duration `env:"LAME_DUCK" envDefault:"5s" check:"min=0s,max=5m" doc:"How long calls are still taken after the end has begun, so that callers move to other instances."`
	// TLS is the certificate of the process, as a server and as a client.
	TLS identity.Config `envPrefix:"TLS_"`
}

const (
	// MaxMessageBytes is above the API's 10 MB body with room for its wire form.
	MaxMessageBytes = 32 << 20
	// streamWindow and connectionWindow are how much is in flight, in bytes, on a call and on a connection. Being given they
	// need not be found out, for which a connection would send pings between the messages.
	streamWindow     = 1 << 20
	connectionWindow = 4 << 20
	minPingInterval  = 10 * time.Second
	workersPerCPU    = 8
	// maxConnectionAge makes clients look for new instances once in a while: they resolve a name again
	// when a connection ends. What runs on it has the grace, which is longer than any call.
	maxConnectionAge      = 5 * time.Minute
	maxConnectionAgeGrace = 2 * time.Minute
	// handshakeTimeout bounds a connection's beginning. The end waits for it even past DrainTimeout, and tells no
	// client to leave before: one connection that says nothing must not keep everybody there.
	handshakeTimeout = 5 * time.Second
)

// Server is a gRPC server under construction: register services on it, then Run.
type Server struct {
	*grpc.Server
	cfg    Config
	log    *slog.Logger
	health *health.Server
	// innermost runs right around the handlers; nil: nothing does.
	innermost grpc.UnaryServerInterceptor
	// serving: it listens and is not about to end.
	serving atomic.Bool
	// streams is the time that streams have; endStreams ends it.
	streams    context.Context
	endStreams context.CancelFunc
}

// NewServer builds a server. collectors are the full names of the methods that report the edge's violations together
// with their own (package fields); every other method refuses a request the edge found a violation in before it runs.
func NewServer(cfg Config, tel *telemetry.Telemetry, collectors ...string) (*Server, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	options, err := secured(cfg.TLS, tel)
	if err != nil {
		return nil, fmt.Errorf("grpc server: %w", err)
	}
	s := &Server{cfg: cfg, log: tel.Logger, health: health.NewServer()}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	between := gate{log: tel.Logger, open: !cfg.TLS.Secure()}
	s.Server = grpc.NewServer(append(options,
		grpc.ChainUnaryInterceptor(
			newServerObserver(tel).serve,
			recovery,
			between.unary,
			errorsToStatus(tel.Logger),
			deadline,
			readCaller(collectors),
			s.intercept,
		),
		grpc.ChainStreamInterceptor(between.stream, s.untilEnd),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connectionWindow),
		// A new goroutine would grow its stack for every call. Past these workers, calls get one all the same.
		grpc.NumStreamWorkers(uint32(workersPerCPU*runtime.GOMAXPROCS(0))), //nolint:gosec // A small number.
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: maxConnectionAge, MaxConnectionAgeGrace: maxConnectionAgeGrace}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPingInterval, PermitWithoutStream: true}),
	)...)
	healthpb.RegisterHealthServer(s.Server, s.health)
	return s, nil
}

// Intercept lets i run right around every call's handler. It is set once, before Run.
func (s *Server) Intercept(i grpc.UnaryServerInterceptor) { s.innermost = i }

func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if s.innermost == nil {
		return next(ctx, req)
	}
	return s.innermost(ctx, req, info, next)
}

var errNotLoopback = errors.New("plain text is for loopback addresses only")

// Run listens and serves until ctx ends. Then health turns to NOT_SERVING and Ready to an error; for
// LameDuck calls are taken as before; after it new calls go elsewhere, because clients are told to
// leave, and running ones get DrainTimeout to finish.
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
	reflection.Register(s.Server)
	for name := range s.GetServiceInfo() {
		s.health.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	message := "serving gRPC in plain text on loopback"
	if s.cfg.TLS.Secure() {
		message = "serving gRPC with mutual TLS"
	}
	s.log.InfoContext(ctx, message, "addr", listener.Addr().String())
	s.serving.Store(true)
	stopped := context.AfterFunc(ctx, s.drain)
	defer stopped()
	if err := s.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("grpc server: %w", err)
	}
	return nil
}

// Ready says whether the server takes calls and goes on to.
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
	s.log.Info("ending: calls are taken a little longer", "lame_duck", s.cfg.LameDuck)
	<-time.After(s.cfg.LameDuck)
	s.endStreams()
	force := time.AfterFunc(s.cfg.DrainTimeout, s.Stop)
	defer force.Stop()
	s.GracefulStop()
}

func requireLoopback(addrs string) error {
	for addr := range strings.SplitSeq(addrs, ",") {
		if err := oneOnLoopback(addr); err != nil {
			return err
		}
	}
	return nil
}

func oneOnLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("grpc address: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: %s", errNotLoopback, addr)
	}
	return nil
}
