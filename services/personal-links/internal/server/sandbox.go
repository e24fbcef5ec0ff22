package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// announceAuto says in the answer, also in a stored one, that links of a batch are claimed by themselves.
func (s *Server) announceAuto(ctx context.Context, batch *linksv1.CreatePersonalLinksResponse) {
	if !s.Sandbox || !slices.ContainsFunc(batch.GetResults(), rules.Auto) {
		return
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.SandboxHeader, "auto"))
	s.WakeAuto()
}

// ClaimByItself claims a link of the sandbox with the first gift that can be chosen and a made-up recipient.
func (s *Server) ClaimByItself(ctx context.Context, link *rules.Link) error {
	settings, err := s.Tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return err
	}
	choice := &linksv1.ClaimLinkRequest{}
	if err := s.completeChoice(ctx, link, settings, choice); err != nil {
		return err
	}
	_, err = s.Claims.Claim(ctx, link, orderOf(link, choice))
	return err
}

// completeChoice chooses what a claim in the sandbox leaves open, and refuses a choice that is not available now.
func (s *Server) completeChoice(
	ctx context.Context, link *rules.Link, settings *tenants.Settings, choice *linksv1.ClaimLinkRequest,
) error {
	selection, err := s.listGifts(ctx, link, settings)
	if err != nil {
		return err
	}
	if !selection.GetOpen() {
		return problem.New(problem.CampaignNotActive, "The campaign of the link is not active.")
	}
	return rules.CompleteClaim(choice, selection.GetGifts())
}

// ApproveSandboxPersonalLink approves a link for an API key, by the rules of ApprovePersonalLink.
func (s *Server) ApproveSandboxPersonalLink(
	ctx context.Context, req *linksv1.ApproveSandboxPersonalLinkRequest,
) (*linksv1.ApproveSandboxPersonalLinkResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	sealer := answerSealer{ring: s.Ring, keyID: p.KeyID}
	var link *rules.Link
	stored, err := idempotency.RunInTx(ctx, s.Store.Pool(), func(b *pgx.Batch) {
		s.Store.QueueLock(b, p.TenantID, idOrUnknown(req.GetLinkId()), &link)
	}, func() (effect sealedEffect, err error) {
		if link == nil || !p.Reaches(link.Record.GetBrandId()) {
			return effect, problem.RecordNotFound()
		}
		effect.Record.BrandID = link.Record.GetBrandId()
		if err := errs.Err(); err != nil {
			return effect, err
		}
		changed, err := link.Approve(s.Clock())
		if err != nil {
			return effect, err
		}
		if changed {
			change := store.Change{Link: link, Event: rules.EventApproved, Audit: store.BySandbox(store.Approved)}
			if effect.Queue, err = s.Store.QueueChange(ctx, change); err != nil {
				return effect, err
			}
		}
		effect.Answer, err = sealer.seal(&linksv1.ApproveSandboxPersonalLinkResponse{Link: link.Record})
		return effect, err
	})
	if err != nil {
		return nil, err
	}
	resp := &linksv1.ApproveSandboxPersonalLinkResponse{}
	return resp, sealer.open(stored, resp)
}

// ClaimSandboxPersonalLink claims a link for an API key, as its player does.
//
// The answer commits with the claim. After a crash before that, another instance finishes the claim or abandons it. A
// repetition of the request recognizes a finished claim by the id of its order (rules.MadeClaim) and gets the same answer. After an
// abandoned one it claims the link. The link stores nothing of the recipient.
func (s *Server) ClaimSandboxPersonalLink(
	ctx context.Context, req *linksv1.ClaimSandboxPersonalLinkRequest,
) (*linksv1.ClaimSandboxPersonalLinkResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	c := &keyClaim{server: s, principal: p, linkID: idOrUnknown(req.GetLinkId()), sealer: answerSealer{ring: s.Ring, keyID: p.KeyID}}
	if request, keyed := idempotency.FromContext(ctx); keyed {
		c.request = request.ReservationKey()
	} else {
		c.request = []byte(rules.NewToken(s.Cell)) // Of no other request.
	}
	stored, found, err := idempotency.Replay[*sealed](ctx, s.Store.Pool())
	if err == nil && !found {
		stored, err = c.run(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	resp := &linksv1.ClaimSandboxPersonalLinkResponse{}
	return resp, c.sealer.open(stored, resp)
}

// keyClaim is the claim of a link by one request.
type keyClaim struct {
	server    *Server
	principal caller.Principal
	linkID    string
	// request identifies the request over retries.
	request []byte
	sealer  answerSealer
	// about is the link, once it was read and the key reaches it.
	about idempotency.Record
	// stored is the answer that the claim's transaction has stored.
	stored *sealed
}

func (c *keyClaim) run(ctx context.Context, req *linksv1.ClaimSandboxPersonalLinkRequest) (*sealed, error) {
	link, err := c.claim(ctx, req)
	if c.stored != nil {
		return c.stored, nil
	}
	if err != nil {
		return idempotency.Refuse[*sealed](ctx, c.server.Store.Pool(), err, c.about)
	}
	effect, err := c.answer(link)
	if err != nil {
		return nil, err
	}
	return idempotency.Commit(ctx, c.server.Store.Pool(), effect)
}

func (c *keyClaim) answer(link *rules.Link) (effect sealedEffect, err error) {
	effect.Record = c.about
	effect.Answer, err = c.sealer.seal(&linksv1.ClaimSandboxPersonalLinkResponse{Link: link.Record})
	return effect, err
}

// claim returns the link once this request has claimed it, now or before a crash.
func (c *keyClaim) claim(ctx context.Context, req *linksv1.ClaimSandboxPersonalLinkRequest) (*rules.Link, error) {
	link, err := c.server.Store.Get(ctx, c.principal.TenantID, c.linkID)
	if errors.Is(err, store.ErrNotFound) || err == nil && !c.principal.Reaches(link.Record.GetBrandId()) {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	c.about.BrandID = link.Record.GetBrandId()
	errs := caller.RequestErrors(ctx)
	choice := rules.SandboxClaim(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	switch {
	case link.Record.GetStatus() != rules.Active:
		return link, c.check(link)
	case link.ClaimOrderID != nil && !link.ClaimExpired && rules.MadeClaim(c.request, c.linkID, *link.ClaimOrderID):
		return nil, idempotency.InProgress()
	}
	settings, err := c.server.Tenants.Get(ctx, c.principal.TenantID, c.principal.TenantVersion)
	if err != nil {
		return nil, err
	}
	if refused := c.server.completeChoice(ctx, link, settings, choice); refused != nil {
		return c.refuse(ctx, link, refused)
	}
	opts := claims.ClaimOptions{OrderID: func() string { return rules.NewClaimID(c.request, c.linkID) }, Finish: c.finish}
	result, err := c.server.Claims.ClaimAs(ctx, opts, link, orderOf(link, choice))
	if err != nil {
		return nil, err
	}
	return result.Link, c.check(result.Link)
}

// check refuses a link that something else than this request has ended.
func (c *keyClaim) check(link *rules.Link) error {
	if rules.MadeClaim(c.request, c.linkID, link.Record.GetOrderId()) {
		return nil
	}
	return link.CheckClaimable()
}

// refuse returns the problem of a choice that is not available, unless this request has claimed the link in another call, perhaps
// with the last unit.
func (c *keyClaim) refuse(ctx context.Context, link *rules.Link, refused error) (*rules.Link, error) {
	link, err := c.server.Claims.Outcome(ctx, link)
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() == rules.Active {
		return nil, refused
	}
	return link, c.check(link)
}

// finish marks the link as claimed and stores the answer in the same transaction.
func (c *keyClaim) finish(
	ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
) (link *rules.Link, finished bool, err error) {
	s := c.server
	if !rules.MadeClaim(c.request, id, o.OrderID) {
		// The link has lost an earlier claim and gets its order. That is no success of this request.
		return s.Store.FinishClaim(ctx, tenantID, id, claimID, o, now)
	}
	stored, err := idempotency.RunInTx(ctx, s.Store.Pool(), func(b *pgx.Batch) {
		s.Store.QueueLock(b, tenantID, id, &link)
	}, func() (effect sealedEffect, err error) {
		if finished = link != nil && link.FinishClaim(claimID, o, now); !finished {
			return effect, rules.ErrClaimLost
		}
		if effect, err = c.answer(link); err == nil {
			effect.Queue, err = s.Store.QueueChange(ctx, store.Change{Link: link, Event: rules.EventClaimed})
		}
		return effect, err
	})
	if errors.Is(err, rules.ErrClaimLost) && link != nil {
		return link, false, nil // Another instance has ended the claim.
	}
	if err != nil {
		return nil, false, err
	}
	c.stored = stored
	if link == nil { // A repetition had stored the answer already, so the link was not read.
		link, err = s.Store.Get(ctx, tenantID, id)
	}
	return link, finished, err
}
