package server

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Operations is the operations plane of personal links.
type Operations struct {
	linksv1.UnimplementedPersonalLinkOperationsServiceServer

	Store   *store.Store
	Tenants tenantsv1.DirectoryServiceClient
	Claims  *claims.Saga
	Clock   func() time.Time
}

// permission is a rule of package rules.
type permission func(a *commonv1.Actor, team []*tenantsv1.TeamMember) error

// permit checks the actor and what errs has, then whether the actor may act for the tenant as its
// team is now.
func (o *Operations) permit(
	ctx context.Context, errs *fields.Errors, a *commonv1.Actor, tenantID string, allowed permission,
) (tenant string, err error) {
	actor.Check(a, errs)
	tenant = errs.UUID("tenantId", tenantID)
	if err := errs.Err(); err != nil {
		return "", err
	}
	settings, err := o.Tenants.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: tenant})
	if err != nil {
		return "", err
	}
	return tenant, allowed(a, settings.GetTeam())
}

func auditOf(a *commonv1.Actor, action string) store.Audit {
	return store.Audit{Action: action, ActorKind: actor.Kind(a), ActorID: a.GetId()}
}

// idOrUnknown takes an id that is none for one of no record.
func idOrUnknown(text string) string {
	id, ok := fields.ParseUUID(text)
	if !ok {
		return "00000000-0000-0000-0000-000000000000"
	}
	return id
}

func absent(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return problem.New(problem.NotFound, "The tenant has no such record.")
	}
	return err
}

func detailsOf(l *rules.Link) *linksv1.PersonalLinkDetails {
	d := &linksv1.PersonalLinkDetails{
		Link: l.Record, BatchId: l.BatchID, Locale: l.Locale, ManagerId: l.ManagerID, CancellationReason: l.Reason,
	}
	if l.Details != nil {
		d.Label, d.Message, d.Email = l.Details.Label, rules.NonBlank(l.Details.Message), rules.NonBlank(l.Details.Email)
	}
	return d
}
