// Package personallinks is the door of the personal-links service: links a tenant passes to its
// players, who choose a gift and say where it goes (API specification, section Personal link).
package personallinks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config

	SealKeys string `env:"SEAL_KEYS,required" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
}

// Service is the running service.
type Service struct {
	tel   *telemetry.Telemetry
	pool  *pgxpool.Pool
	rpc   *rpc.Server
	waker *outbox.Waker
}

// Migrate brings the database up to date.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Database.URL, store.Migrations(), outbox.Migrations(), idempotency.Migrations())
}

// New opens what the service needs. Run closes it.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal keys: %w", err)
	}
	pool, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return nil, err
	}
	s := &Service{
		tel: tel, pool: pool, rpc: rpc.NewServer(cfg.RPC, tel, server.Collectors()...), waker: outbox.NewWaker(pool, tel.Logger),
	}
	s.rpc.Intercept(s.waker.Intercept)
	linksv1.RegisterPersonalLinksServiceServer(s.rpc, server.NewPublic(store.New(pool, ring)))
	return s, nil
}

// Run serves until ctx ends and then closes what New opened.
func (s *Service) Run(ctx context.Context) error {
	defer s.pool.Close()
	return daemon.Run(ctx, s.tel.Logger,
		daemon.Part{Name: "grpc", Run: s.rpc.Run},
		daemon.Part{Name: "metrics", Run: func(ctx context.Context) error {
			return s.tel.Serve(ctx, s.pool.Ping)
		}},
		daemon.Part{Name: "waker", Run: s.waker.Run},
	)
}
