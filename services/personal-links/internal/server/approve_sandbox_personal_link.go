package server

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ApproveSandboxPersonalLink approves a link for an API key, by the rules of ApprovePersonalLink.
func (s *Server) ApproveSandboxPersonalLink(
	ctx context.Context, req *linksv1.ApproveSandboxPersonalLinkRequest,
) (*linksv1.ApproveSandboxPersonalLinkResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	a := answers{ring: s.ring, tenantID: p.TenantID}
	var link *rules.Link
	stored, err := idempotency.RunInTx(ctx, s.store.Pool(), func(b *pgx.Batch) {
		s.store.QueueLock(b, p.TenantID, idOrUnknown(req.GetLinkId()), &link)
	}, func() (effect sealedEffect, err error) {
		if link == nil || !p.Reaches(link.Record.GetBrandId()) {
			return effect, problem.RecordNotFound()
		}
		effect.Record.BrandID = link.Record.GetBrandId()
		if err := errs.Err(); err != nil {
			return effect, err
		}
		changed, err := link.Approve(s.clock())
		if err != nil {
			return effect, err
		}
		if changed {
			change := store.Change{Link: link, Event: rules.EventApproved, Audit: store.BySandbox(store.Approved)}
			if effect.Queue, err = s.store.QueueChange(ctx, change); err != nil {
				return effect, err
			}
		}
		effect.Answer, err = a.seal(&linksv1.ApproveSandboxPersonalLinkResponse{Link: link.Record})
		return effect, err
	})
	if err != nil {
		return nil, err
	}
	resp := &linksv1.ApproveSandboxPersonalLinkResponse{}
	return resp, a.open(stored, resp)
}
