// Package server answers the webhook service's public RPCs.
package server

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/post"
)

// Collectors are the methods that report the edge's field faults themselves.
func Collectors() []string { return []string{webhookv1.WebhookService_TestWebhook_FullMethodName} }

// Config of a server. All fields are needed.
type Config struct {
	Pool      *pgxpool.Pool
	Directory tenantsv1.DirectoryServiceClient
	Poster    *post.Poster
	// Environment stands in the envelope of a ping.
	Environment string
	// TestTimeout bounds a test: it holds a database transaction open, which the database ends
	// when it has been idle for too long.
	TestTimeout time.Duration
	// Tests is how many run at once: each keeps a connection to the database.
	Tests int
	Now   func() time.Time
}

// Server implements WebhookService.
type Server struct {
	webhookv1.UnimplementedWebhookServiceServer
	cfg    Config
	places *places
}

// New makes a server.
func New(cfg Config) *Server {
	return &Server{cfg: cfg, places: newPlaces(cfg.Tests)}
}
