// Package server implements the gRPC methods of the webhook service.
package server

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/seal"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// Collectors are the methods that report the gateway's field errors themselves.
func Collectors() []string {
	return []string{
		webhookv1.WebhookService_TestWebhook_FullMethodName,
		webhookv1.WebhookService_ListWebhookDeliveries_FullMethodName,
		webhookv1.WebhookService_GetWebhookHealth_FullMethodName,
		webhookv1.WebhookService_ResendWebhookDelivery_FullMethodName,
		webhookv1.WebhookService_ReplayWebhooks_FullMethodName,
	}
}

// Deps are what a server works with.
type Deps struct {
	Pool      *pgxpool.Pool
	Store     *store.Store
	Directory tenantsv1.DirectoryServiceClient
	Client    *webhookclient.Client
	// Reader opens a waiting event, to see whether it can be sent.
	Reader *seal.EventReader
	// Wake is called when deliveries have become due.
	Wake func()
	Now  func() time.Time
}

// Config of a server. All fields are required.
type Config struct {
	Cell identity.Cell
	// Environment is part of the envelope of a ping.
	Environment string
	// TestTimeout bounds a test. It is that of an attempt, so that a receiver that passes the test gets its events.
	TestTimeout time.Duration
	// Tests is how many calls of TestWebhook may run concurrently: each holds a connection to the database.
	Tests int
}

// Server implements WebhookService.
type Server struct {
	webhookv1.UnimplementedWebhookServiceServer
	deps  Deps
	cfg   Config
	slots *testSlots
}

// New makes a server.
func New(deps Deps, cfg Config) *Server {
	return &Server{deps: deps, cfg: cfg, slots: newTestSlots(cfg.Tests)}
}
