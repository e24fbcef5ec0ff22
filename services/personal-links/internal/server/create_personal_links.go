package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// CreatePersonalLinks makes a batch of links (API specification, POST /personal-links:create-batch).
func (s *Server) CreatePersonalLinks(
	ctx context.Context, req *linksv1.CreatePersonalLinksRequest,
) (*linksv1.CreatePersonalLinksResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	sealer := answerSealer{ring: s.Ring, keyID: principal.KeyID}
	effect, err := s.prepareBatch(ctx, principal, sealer, req)
	var stored *sealed
	if err == nil {
		stored, err = idempotency.Commit(ctx, s.Store.Pool(), effect)
	} else {
		stored, err = idempotency.Refuse[*sealed](ctx, s.Store.Pool(), err, effect.Record)
	}
	if err != nil {
		return nil, err
	}
	resp := &linksv1.CreatePersonalLinksResponse{}
	if err := sealer.open(stored, resp); err != nil {
		return nil, err
	}
	s.announceAuto(ctx, resp)
	return resp, nil
}

func (s *Server) prepareBatch(
	ctx context.Context, principal caller.Principal, sealer answerSealer, req *linksv1.CreatePersonalLinksRequest,
) (effect sealedEffect, err error) {
	settings, err := s.Tenants.Get(ctx, principal.TenantID, principal.TenantVersion)
	if err != nil {
		return effect, err
	}
	errs := edgeErrors(ctx, req)
	selection := rules.CheckSelection(req, errs)
	if err := errs.Err(); err != nil {
		return effect, err
	}
	brandID, err := s.brandOf(ctx, principal, settings, selection)
	if err != nil {
		return effect, err
	}
	effect.Record.BrandID = brandID
	if err := selection.CheckNumber(len(req.GetRecipients())); err != nil {
		return effect, err
	}
	from := rules.Sender{
		Cell:     s.Cell,
		TenantID: principal.TenantID, KeyID: principal.KeyID, KeyName: principal.KeyName, BrandID: brandID, ClaimURL: s.ClaimURL,
		Sandbox: s.Sandbox,
	}
	batch := rules.NewBatch(from, selection, settings, req.GetRecipients(), s.Clock())
	if effect.Answer, err = sealer.seal(&linksv1.CreatePersonalLinksResponse{Results: batch.Results}); err != nil {
		return effect, err
	}
	effect.Queue, err = s.Store.QueueBatch(ctx, batch)
	return effect, err
}

// edgeErrors are the violations that the edge found, without the one for too many recipients, which has its own problem code.
func edgeErrors(ctx context.Context, req *linksv1.CreatePersonalLinksRequest) *fields.Errors {
	errs := &fields.Errors{}
	for _, v := range caller.RequestFrom(ctx).Violations {
		if v.Field != "recipients" || len(req.GetRecipients()) <= rules.MaxRecipients {
			errs.Add(v.Field, v.Code, v.Message)
		}
	}
	return errs
}

// brandOf checks that the selection can be offered, and returns the brand of the links.
func (s *Server) brandOf(
	ctx context.Context, principal caller.Principal, settings *tenants.Settings, selection rules.Selection,
) (string, error) {
	if selection.CampaignID == nil {
		if !rules.HasBrand(settings.GetBrands(), selection.BrandID) || !principal.Reaches(selection.BrandID) {
			return "", problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
		}
		if len(selection.ProductIDs) == 0 {
			return selection.BrandID, nil // The catalog is not needed.
		}
	}
	checked, err := s.Catalog.CheckSelection(ctx, &catalogv1.CheckSelectionRequest{
		TenantId:  principal.TenantID,
		Selection: &catalogv1.Selection{CampaignId: selection.CampaignID, ProductIds: selection.ProductIDs},
		AllBrands: principal.AllBrands, BrandIds: principal.BrandIDs,
	})
	if err != nil || selection.CampaignID == nil {
		return selection.BrandID, err
	}
	return checked.GetCampaignBrandId(), nil
}
