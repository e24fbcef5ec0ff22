package server

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// operation has the fields of every request of PersonalLinkOperationsService.
type operation interface {
	GetActor() *commonv1.Actor
	GetTenantId() string
}

// permit checks the actor, adds its violations to errs, and refuses an actor who may not make the call. It returns the tenant's id.
func (s *Server) permit(ctx context.Context, method string, req operation, errs *fields.Errors) (tenantID string, err error) {
	caller.CheckActor(req.GetActor(), errs)
	tenantID = errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return "", err
	}
	return tenantID, s.Tenants.Permit(ctx, tenantID, req.GetActor(), rules.Access(method))
}

// changeOf converts the result of a rule to a change with its event and audit.
func changeOf(req operation, event, action string) func(changed bool, err error) (*store.Change, error) {
	return func(changed bool, err error) (*store.Change, error) {
		if err != nil || !changed {
			return nil, err
		}
		audit := auditOf(req, action)
		return &store.Change{Event: event, Audit: &audit}, nil
	}
}

func auditOf(req operation, action string) store.Audit {
	return store.Audit{Action: action, ActorKind: enumname.String(req.GetActor().GetKind()), ActorID: req.GetActor().GetId()}
}

// idOrUnknown replaces an invalid id with one that no record has.
func idOrUnknown(text string) string {
	if id, ok := fields.ParseUUID(text); ok {
		return id
	}
	return uuid.Nil.String()
}

// notFound translates the store's ErrNotFound.
func notFound(err error) error {
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
		d.Label, d.Message, d.Email = l.Details.Label, fields.Optional(&l.Details.Message), fields.Optional(&l.Details.Email)
	}
	return d
}

// ApprovePersonalLink approves a link that waits for approval.
func (s *Server) ApprovePersonalLink(
	ctx context.Context, req *linksv1.ApprovePersonalLinkRequest,
) (*linksv1.ApprovePersonalLinkResponse, error) {
	tenantID, err := s.permit(ctx, linksv1.PersonalLinkOperationsService_ApprovePersonalLink_FullMethodName, req,
		caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	link, err := s.Store.Update(ctx, tenantID, idOrUnknown(req.GetLinkId()), func(l *rules.Link) (*store.Change, error) {
		return changeOf(req, rules.EventApproved, store.Approved)(l.Approve(s.Clock()))
	})
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ApprovePersonalLinkResponse{Link: link.Record}, nil
}

// ApprovePersonalLinkBatch approves every link of the batch that waits for approval.
func (s *Server) ApprovePersonalLinkBatch(
	ctx context.Context, req *linksv1.ApprovePersonalLinkBatchRequest,
) (*linksv1.ApprovePersonalLinkBatchResponse, error) {
	tenantID, err := s.permit(ctx, linksv1.PersonalLinkOperationsService_ApprovePersonalLinkBatch_FullMethodName, req,
		caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	n, err := s.Store.ApproveBatch(ctx, tenantID, idOrUnknown(req.GetBatchId()), auditOf(req, store.Approved), s.Clock())
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ApprovePersonalLinkBatchResponse{Approved: int32(n)}, nil //nolint:gosec // At most a batch.
}
