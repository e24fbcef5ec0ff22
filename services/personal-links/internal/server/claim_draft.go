package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// GetClaimDraft returns what the form has entered so far.
func (s *Server) GetClaimDraft(ctx context.Context, req *linksv1.GetClaimDraftRequest) (*linksv1.GetClaimDraftResponse, error) {
	link, err := s.ofForm(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := &linksv1.GetClaimDraftResponse{State: rules.ClaimState(link.Record.GetStatus())}
	if link.HasDraft(req.GetFormNonce()) {
		hash, _ := rules.HashToken(req.GetToken())
		resp.Draft, err = s.store.Draft(ctx, hash, rules.HashNonce(req.GetFormNonce()))
	}
	return resp, err
}

// formRequest has the fields of every request of a form.
type formRequest interface {
	GetToken() string
	GetFormNonce() string
}

// ofForm returns the link of a form's request.
func (s *Server) ofForm(ctx context.Context, req formRequest) (*rules.Link, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckNonce(req.GetFormNonce(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return s.byToken(ctx, req.GetToken())
}

// SaveClaimDraft stores what the form has entered.
func (s *Server) SaveClaimDraft(ctx context.Context, req *linksv1.SaveClaimDraftRequest) (*linksv1.SaveClaimDraftResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckDraft(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	hash, ok := rules.HashToken(req.GetToken())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	link, draft, err := s.store.SaveDraft(ctx, hash, rules.HashNonce(req.GetFormNonce()),
		func(l *rules.Link, stored *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error) {
			if !l.HasDraft(req.GetFormNonce()) {
				return nil, nil //nolint:nilnil // The link keeps none.
			}
			return rules.NextDraft(stored, req)
		})
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	return &linksv1.SaveClaimDraftResponse{State: rules.ClaimState(link.Record.GetStatus()), Draft: draft}, nil
}
