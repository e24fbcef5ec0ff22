// Package server answers the RPCs of the event feed.
package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/apikey"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Feed is what the server reads. The store implements it.
type Feed interface {
	Bounds(ctx context.Context, tenantID string) (store.Bounds, error)
	Scan(ctx context.Context, tenantID string, after store.Position, f store.Filter, limit int) ([]store.Row, store.Bounds, error)
}

// Server is the public plane of the event feed.
type Server struct {
	eventsv1.UnimplementedEventsServiceServer

	feed        Feed
	environment apikey.Environment
}

// New makes a server for a deployment.
func New(feed Feed, environment apikey.Environment) *Server {
	return &Server{feed: feed, environment: environment}
}

// Collectors are the methods that report the gateway's field errors together with their own.
func Collectors() []string {
	return []string{eventsv1.EventsService_ListEvents_FullMethodName}
}
