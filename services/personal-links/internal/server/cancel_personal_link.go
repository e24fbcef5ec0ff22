package server

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// CancelPersonalLink cancels a link (API specification, POST /personal-links/{linkId}:cancel). A claim in flight is reconciled
// first: if its order has been placed, the link is claimed and not cancelled.
func (s *Server) CancelPersonalLink(
	ctx context.Context, req *linksv1.CancelPersonalLinkRequest,
) (*linksv1.CancelPersonalLinkResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckReason(req.GetReason(), errs)
	linkID, _ := fields.ParseUUID(req.GetLinkId())
	sealer := answerSealer{ring: s.Ring, keyID: p.KeyID}
	var stored *sealed
	err = s.withoutClaim(ctx, func() (link *rules.Link, err error) {
		stored, err = idempotency.RunInTx(ctx, s.Store.Pool(), func(b *pgx.Batch) {
			link = nil
			if linkID != "" {
				s.Store.QueueLock(b, p.TenantID, linkID, &link)
			}
		}, func() (effect sealedEffect, err error) {
			if link == nil || !p.Reaches(link.Record.GetBrandId()) {
				return effect, problem.RecordNotFound()
			}
			effect.Record.BrandID = link.Record.GetBrandId()
			if err := errs.Err(); err != nil {
				return effect, err
			}
			if effect.Queue, err = s.cancel(ctx, p, link, req.GetReason()); err != nil {
				return effect, err
			}
			effect.Answer, err = sealer.seal(&linksv1.CancelPersonalLinkResponse{Link: link.Record})
			return effect, err
		})
		return link, err
	})
	if err != nil {
		return nil, err
	}
	resp := &linksv1.CancelPersonalLinkResponse{}
	return resp, sealer.open(stored, resp)
}

// cancel cancels a locked link for a key and returns the function that writes the change, or nil if the link is already
// cancelled.
func (s *Server) cancel(ctx context.Context, p caller.Principal, link *rules.Link, reason string) (func(b *pgx.Batch), error) {
	changed, err := link.Cancel(reason, s.Clock())
	if err != nil || !changed {
		return nil, err
	}
	return s.Store.QueueChange(ctx, store.Change{
		Link: link, Event: rules.EventCancelled, OriginKeyID: p.KeyID,
		Audit: &store.Audit{Action: store.Cancelled, ActorKind: store.ByKey, ActorID: strconv.Itoa(int(p.KeyID))},
	})
}

// CancelPersonalLinkAs cancels a link for a person, by the rules of CancelPersonalLink.
func (s *Server) CancelPersonalLinkAs(
	ctx context.Context, req *linksv1.CancelPersonalLinkAsRequest,
) (*linksv1.CancelPersonalLinkAsResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckReason(req.GetReason(), errs)
	tenantID, err := s.permit(ctx, linksv1.PersonalLinkOperationsService_CancelPersonalLinkAs_FullMethodName, req, errs)
	if err != nil {
		return nil, err
	}
	resp := &linksv1.CancelPersonalLinkAsResponse{}
	err = s.withoutClaim(ctx, func() (locked *rules.Link, err error) {
		link, err := s.Store.Update(ctx, tenantID, idOrUnknown(req.GetLinkId()), func(l *rules.Link) (*store.Change, error) {
			locked = l
			return changeOf(req, rules.EventCancelled, store.Cancelled)(l.Cancel(req.GetReason(), s.Clock()))
		})
		if err == nil {
			resp.Link = link.Record
		}
		return locked, err
	})
	return resp, notFound(err)
}
