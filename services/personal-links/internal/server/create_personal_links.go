package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// CreatePersonalLinks makes a batch of links (API specification, POST /personal-links:create-batch).
func (p *Public) CreatePersonalLinks(
	ctx context.Context, req *linksv1.CreatePersonalLinksRequest,
) (*linksv1.CreatePersonalLinksResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	a := answers{ring: p.Ring, tenantID: principal.TenantID}
	stored, err := idempotency.Run(ctx, p.Store.Pool(), func(ctx context.Context) (sealedEffect, error) {
		return p.prepareBatch(ctx, principal, a, req)
	})
	if err != nil {
		return nil, err
	}
	resp := &linksv1.CreatePersonalLinksResponse{}
	return resp, a.open(stored, resp)
}

func (p *Public) prepareBatch(
	ctx context.Context, principal caller.Principal, a answers, req *linksv1.CreatePersonalLinksRequest,
) (effect sealedEffect, err error) {
	settings, err := p.Tenants.Get(ctx, principal.TenantID, principal.TenantVersion)
	if err != nil {
		return effect, err
	}
	errs := edgeFaults(ctx, req)
	selection := rules.CheckSelection(req, errs)
	if err := errs.Err(); err != nil {
		return effect, err
	}
	brandID, err := p.brandOf(ctx, principal, settings, selection)
	if err != nil {
		return effect, err
	}
	if err := selection.CheckNumber(len(req.GetRecipients())); err != nil {
		return effect, err
	}
	from := rules.Sender{
		TenantID: principal.TenantID, KeyID: principal.KeyID, KeyName: principal.KeyName, BrandID: brandID, ClaimURL: p.ClaimURL,
	}
	batch := rules.NewBatch(from, selection, settings, req.GetRecipients(), p.Clock())
	if effect.Answer, err = a.seal(&linksv1.CreatePersonalLinksResponse{Results: batch.Results}); err != nil {
		return effect, err
	}
	effect.Queue, err = p.Store.QueueBatch(ctx, batch)
	return effect, err
}

// edgeFaults are what the edge found, but for a list of more recipients than it reads: that they are
// too many is a problem of its own.
func edgeFaults(ctx context.Context, req *linksv1.CreatePersonalLinksRequest) *fields.Errors {
	errs := &fields.Errors{}
	for _, v := range caller.RequestFrom(ctx).Violations {
		if v.Field != "recipients" || len(req.GetRecipients()) <= rules.MaxRecipients {
			errs.Add(v.Field, v.Code, v.Message)
		}
	}
	return errs
}

// brandOf gives the brand of the links after a look whether the selection can be offered.
func (p *Public) brandOf(
	ctx context.Context, principal caller.Principal, settings *tenantcache.Settings, s rules.Selection,
) (string, error) {
	if s.CampaignID == "" {
		if !rules.HasBrand(settings.GetBrands(), s.BrandID) || !principal.Reaches(s.BrandID) {
			return "", problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
		}
		if len(s.ProductIDs) == 0 {
			return s.BrandID, nil // The catalog knows nothing of no gifts.
		}
	}
	checked, err := p.Catalog.CheckSelection(ctx, &catalogv1.CheckSelectionRequest{
		TenantId:  principal.TenantID,
		Selection: &catalogv1.Selection{CampaignId: rules.NonBlank(s.CampaignID), ProductIds: s.ProductIDs},
		AllBrands: principal.AllBrands, BrandIds: principal.BrandIDs,
	})
	if err != nil || s.CampaignID == "" {
		return s.BrandID, err
	}
	return checked.GetCampaignBrandId(), nil
}
