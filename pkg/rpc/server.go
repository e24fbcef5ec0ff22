package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Config of a gRPC server.
type Config struct {
	// Addr is host:port. Without transport security only a loopback address is taken.
	Addr string `env:"GRPC_ADDR" doc:"host:port the gRPC server listens on."`
	// DrainTimeout bounds how long the end waits for running calls. Zero: 15 s.
	DrainTimeout time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" doc:"How long the end waits for running calls."`
}

const (
	// MaxMessageBytes is above the API's 10 MB body with room for its wire form.
	MaxMessageBytes     = 32 << 20
	defaultDrainTimeout = 15 * time.Second
	minPingInterval     = 10 * time.Second
)

// Server is a gRPC server under construction: register services on it, then Run.
type Server struct {
	*grpc.Server
	cfg    Config
	log    *slog.Logger
	health *health.Server
	// innermost runs right around the handlers; nil: nothing does.
	innermost grpc.UnaryServerInterceptor
}

// NewServer builds a server. collectors are the full names of the methods that report the edge's
// field faults together with their own (package fields); every other method refuses a request the
// edge found a fault in before it runs.
func NewServer(cfg Config, tel *telemetry.Telemetry, collectors ...string) *Server {
	s := &Server{cfg: cfg, log: tel.Logger, health: health.NewServer()}
	s.Server = grpc.NewServer(
		grpc.StatsHandler(otelgrpc.NewServerHandler(
			otelgrpc.WithTracerProvider(tel.Tracers), otelgrpc.WithMeterProvider(tel.Meters),
			otelgrpc.WithPropagators(propagation.TraceContext{}))),
		grpc.ChainUnaryInterceptor(
			recovery,
			errorsToStatus(tel.Logger),
			deadline,
			readCaller(collectors),
			s.intercept,
		),
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPingInterval, PermitWithoutStream: true}),
	)
	healthpb.RegisterHealthServer(s.Server, s.health)
	return s
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

// Run listens and serves until ctx ends, then drains: health turns to NOT_SERVING, new calls are
// refused, running ones get DrainTimeout to finish.
func (s *Server) Run(ctx context.Context) error {
	if err := requireLoopback(s.cfg.Addr); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("grpc port: %w", err)
	}
	reflection.Register(s.Server)
	for name := range s.GetServiceInfo() {
		s.health.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	s.log.InfoContext(ctx, "serving gRPC in plain text on loopback", "addr", listener.Addr().String())
	stopped := context.AfterFunc(ctx, s.drain)
	defer stopped()
	if err := s.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("grpc server: %w", err)
	}
	return nil
}

func (s *Server) drain() {
	s.health.Shutdown()
	timeout := s.cfg.DrainTimeout
	if timeout == 0 {
		timeout = defaultDrainTimeout
	}
	force := time.AfterFunc(timeout, s.Stop)
	defer force.Stop()
	s.GracefulStop()
}

func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("grpc address: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: %s", errNotLoopback, addr)
	}
	return nil
}
