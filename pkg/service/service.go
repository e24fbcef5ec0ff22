// Package service is the wiring that all programs of the platform share: how a service is built, runs and ends (Service), and
// the commands of its program (Program).
package service

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Config says which of the common parts a service has.
type Config struct {
	Telemetry *telemetry.Telemetry
	// RPC is the gRPC server. Its certificate is also that of the connections to other services.
	RPC rpc.Config
	// NoServer: there is no gRPC server.
	NoServer bool
	// Collectors are the methods that report the edge's violations together with their own (rpc.NewServer).
	Collectors []string
	// Database is nil for a service without one.
	Database        *postgres.Config
	DatabaseOptions []postgres.Option
	// KeyRings must open what the database holds: until they do, the gRPC server stays closed.
	KeyRings []seal.CheckedRing
	// Outbox: the service appends events to the outbox of its database.
	Outbox bool
}

// Service is what a program runs: a database, a gRPC server, connections to other services, and its own parts. It is built by New
// and not changed afterwards.
type Service struct {
	Telemetry *telemetry.Telemetry
	// Server is nil with NoServer, and Pool and Clock are nil without a database.
	Server *rpc.Server
	Pool   *pgxpool.Pool
	Clock  *daemon.RetentionClock
	// Waker is nil without an outbox.
	Waker *outbox.Waker

	certificate identity.Config
	peers       *peers
	parts       []daemon.Part
	ready       []func(ctx context.Context) error
	closers     []func() error
}

// New opens the common parts of a service, and lets assemble add its own. If one of them fails, what is open is closed.
func New(ctx context.Context, cfg Config, assemble func(s *Service) error) (*Service, error) {
	s := &Service{Telemetry: cfg.Telemetry, certificate: cfg.RPC.TLS, peers: newPeers(cfg.Telemetry)}
	err := s.open(ctx, cfg)
	if err == nil {
		err = assemble(s)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.Add(s.peers.part())
	s.ReadyIf(s.peers.checkReady)
	return s, nil
}

func (s *Service) open(ctx context.Context, cfg Config) (err error) {
	var keys *seal.RingCheck
	if cfg.Database != nil {
		if s.Pool, err = postgres.OpenObserved(ctx, *cfg.Database, s.Telemetry, cfg.DatabaseOptions...); err != nil {
			return err
		}
		s.AtEnd(s.Pool.Close)
		if s.Clock, err = daemon.NewRetentionClock(s.Pool, s.Telemetry); err != nil {
			return err
		}
		s.Add(s.Clock.Part(s.Telemetry))
		s.ReadyIf(s.Clock.Ready)
	}
	if len(cfg.KeyRings) > 0 {
		if keys, err = seal.NewRingCheck(ctx, s.Pool, s.Telemetry, cfg.KeyRings...); err != nil {
			return err
		}
		s.Add(keys.Part())
		s.ReadyIf(keys.Ready)
	}
	if !cfg.NoServer {
		if s.Server, err = rpc.NewServer(cfg.RPC, s.Telemetry, cfg.Collectors...); err != nil {
			return err
		}
		server := daemon.Part{Name: "grpc", Run: s.Server.Run}
		if keys != nil {
			server = keys.Hold(server)
		}
		s.Add(server)
		s.ReadyIf(s.Server.Ready)
		s.Server.HoldHealth(s.peers.ready)
	}
	if s.Pool != nil {
		s.ReadyIf(s.Pool.Ping)
	}
	if cfg.Outbox {
		s.Waker = outbox.NewWaker(s.Pool, s.Telemetry.Logger)
		s.Server.Intercept(s.Waker.Intercept)
		s.Add(daemon.Part{Name: "waker", Run: s.Waker.Run, Last: true})
	}
	return nil
}

// Dial connects to another service. The connection is closed at the end. The service is ready when the other one has the contract
// level that it needs.
func (s *Service) Dial(name identity.Name, addr string, interceptors ...grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	target := rpc.Target{Service: name, Addr: addr, TLS: s.certificate}
	conn, err := rpc.Dial(target, s.Telemetry, interceptors...)
	if err != nil {
		return nil, err
	}
	s.CloseAtEnd(conn)
	peer, err := rpc.NewPeer(target, s.Telemetry)
	if err != nil {
		return nil, err
	}
	s.peers.all = append(s.peers.all, peer)
	return conn, nil
}

// Add adds parts to those that run.
func (s *Service) Add(parts ...daemon.Part) { s.parts = append(s.parts, parts...) }

// ReadyIf adds a condition of readiness. It must return quickly.
func (s *Service) ReadyIf(check func(ctx context.Context) error) { s.ready = append(s.ready, check) }

// CloseAtEnd adds what is closed when all parts have ended. What was added last is closed first.
func (s *Service) CloseAtEnd(c io.Closer) { s.closers = append(s.closers, c.Close) }

// AtEnd is CloseAtEnd for what cannot fail.
func (s *Service) AtEnd(work func()) {
	s.closers = append(s.closers, func() error {
		work()
		return nil
	})
}

// Run serves until ctx ends and then closes everything.
func (s *Service) Run(ctx context.Context) error {
	defer func() {
		if err := s.close(); err != nil {
			s.Telemetry.Logger.WarnContext(ctx, "close connections", "error", err)
		}
	}()
	return daemon.Run(ctx, s.Telemetry.Logger, append(s.parts, daemon.Metrics(s.Telemetry, s.ready...))...)
}

func (s *Service) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}
