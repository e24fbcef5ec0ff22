package server

import (
	"context"
	"errors"
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

// maxSettled bounds how many claims one cancellation settles: a player may try again in between.
const maxSettled = 3

// cancellation is one call of CancelPersonalLink.
type cancellation struct {
	*Public
	answers
	principal caller.Principal
	linkID    string
	reason    string
	errs      *fields.Errors
	// link as it was locked.
	link *rules.Link
}

// CancelPersonalLink withdraws a link (API specification, POST /personal-links/{linkId}:cancel). A
// claim under way is settled first: it wins if its order has been placed, else the cancellation.
func (p *Public) CancelPersonalLink(
	ctx context.Context, req *linksv1.CancelPersonalLinkRequest,
) (*linksv1.CancelPersonalLinkResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	c := &cancellation{
		Public: p, answers: answers{ring: p.Ring, tenantID: principal.TenantID}, principal: principal,
		reason: req.GetReason(), errs: fields.FromContext(ctx),
	}
	rules.CheckReason(c.reason, c.errs)
	c.linkID, _ = fields.ParseUUID(req.GetLinkId())
	for range maxSettled {
		stored, err := idempotency.RunInTx(ctx, p.Store.Pool(), c.lock, func() (sealedEffect, error) { return c.decide(ctx) })
		if errors.Is(err, rules.ErrMarked) {
			if _, err := p.Claims.Settle(ctx, c.link); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		resp := &linksv1.CancelPersonalLinkResponse{}
		return resp, c.open(stored, resp)
	}
	return nil, problem.Unavailable()
}

func (c *cancellation) lock(b *pgx.Batch) {
	c.link = nil
	if c.linkID != "" {
		c.Store.QueueLock(b, c.principal.TenantID, c.linkID, &c.link)
	}
}

func (c *cancellation) decide(ctx context.Context) (effect sealedEffect, err error) {
	if c.link == nil || !c.principal.Reaches(c.link.Record.GetBrandId()) {
		return effect, problem.RecordNotFound()
	}
	if err := c.errs.Err(); err != nil {
		return effect, err
	}
	changed, err := c.link.Cancel(c.reason, c.Clock())
	if err != nil {
		return effect, err
	}
	if changed {
		effect.Queue, err = c.Store.QueueChange(ctx, store.Change{
			Link: c.link, Event: rules.EventCancelled, OriginKeyID: c.principal.KeyID,
			Audit: &store.Audit{
				Action: store.Cancelled, ActorKind: store.ByKey, ActorID: strconv.Itoa(int(c.principal.KeyID)),
			},
		})
		if err != nil {
			return effect, err
		}
	}
	effect.Answer, err = c.seal(&linksv1.CancelPersonalLinkResponse{Link: c.link.Record})
	return effect, err
}
