package server

import (
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
)

// watching is who may watch events, which may have links that can be claimed.
var watching = caller.Permission{
	Team:     []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR},
	Operator: true, System: true,
}

// permissionAge is how old the last check of the actor of a stream may be.
const permissionAge = 30 * time.Second

// Operations implements EventOperationsService.
type Operations struct {
	eventsv1.UnimplementedEventOperationsServiceServer

	pages   *Server
	hub     *notices.Hub
	tenants *tenants.Cache
}

// NewOperations makes the server of the operations plane. The reader opens the events that it shows.
func NewOperations(
	feed Feed, reader *seal.EventReader, environment apikey.Environment, hub *notices.Hub, tenants *tenants.Cache,
) *Operations {
	return &Operations{pages: New(feed, reader, environment), hub: hub, tenants: tenants}
}
