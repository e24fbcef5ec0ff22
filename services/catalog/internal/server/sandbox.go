package server

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// override is a change of a gift for one tenant.
type override[R proto.Message] struct {
	productID string
	country   string
	action    string
	detail    map[string]any
	change    func(gift *store.SandboxGift) (changed bool, err error)
	// answer makes the response from the gift after the change, as the tenant sees it.
	answer func(e store.Entry, currency string) (R, error)
}

// run changes a gift for the key's tenant. A gift that is not published is not found.
func (o override[R]) run(ctx context.Context, s *service, errs *fields.Errors) (none R, _ error) {
	p, tenant, err := s.keyAndTenant(ctx)
	if err != nil {
		return none, err
	}
	id := idOrUnknown(o.productID)
	view := store.View{TenantID: p.TenantID, Country: o.country, Locale: rules.BaseLocale, Currency: tenant.GetCurrency()}
	var gift *store.SandboxGift
	return idempotency.RunInTx(ctx, s.Store.Pool(), func(b *pgx.Batch) {
		s.Store.QueueSandboxGift(b, view, id, &gift)
	}, func() (effect idempotency.Effect[R], err error) {
		if gift == nil {
			return effect, problem.RecordNotFound()
		}
		if err := errs.Err(); err != nil {
			return effect, err
		}
		changed, err := o.change(gift)
		if err != nil {
			return effect, err
		}
		if changed {
			detail := map[string]any{"tenantId": p.TenantID}
			maps.Copy(detail, o.detail)
			act := store.Act{TenantID: p.TenantID, Subject: id, Actor: rules.Sandbox(), Action: o.action, Detail: detail}
			effect.Queue = func(b *pgx.Batch) { s.Store.QueueOverride(b, gift, act) }
		}
		effect.Answer, err = o.answer(entryAfter(gift, o.country, changed), view.Currency)
		return effect, err
	})
}

// entryAfter is the gift as the tenant sees it after a change.
func entryAfter(gift *store.SandboxGift, country string, changed bool) store.Entry {
	e := gift.Entry
	e.Listed = !gift.Override.Unlisted
	e.Available = slices.Contains(gift.Override.Countries(gift.Countries), country)
	switch {
	case changed:
		e.UpdatedAt = gift.NextChange
	case gift.UpdatedAt.After(e.UpdatedAt):
		e.UpdatedAt = gift.UpdatedAt
	}
	return e
}

// UnlistSandboxProduct takes a gift out of the catalog of the key's tenant.
func (s *service) UnlistSandboxProduct(
	ctx context.Context, req *catalogv1.UnlistSandboxProductRequest,
) (*catalogv1.UnlistSandboxProductResponse, error) {
	return override[*catalogv1.UnlistSandboxProductResponse]{
		productID: req.GetProductId(), action: "sandbox.unlist",
		change: func(gift *store.SandboxGift) (bool, error) { return gift.Override.Unlist() },
		answer: func(e store.Entry, _ string) (*catalogv1.UnlistSandboxProductResponse, error) {
			return &catalogv1.UnlistSandboxProductResponse{
				Product: &catalogv1.UnlistedProduct{Id: e.ID, UpdatedAt: timestamppb.New(e.UpdatedAt)},
			}, nil
		},
	}.run(ctx, s, caller.RequestErrors(ctx))
}

// RelistSandboxProduct undoes UnlistSandboxProduct.
func (s *service) RelistSandboxProduct(
	ctx context.Context, req *catalogv1.RelistSandboxProductRequest,
) (*catalogv1.RelistSandboxProductResponse, error) {
	errs := caller.RequestErrors(ctx)
	country := req.GetCountry()
	if fields.Optional(req.Country) != nil {
		rules.CheckCountry(country, errs)
	} else {
		p, _, err := s.keyAndTenant(ctx)
		if err != nil {
			return nil, err
		}
		countries, err := s.Store.SandboxCountries(ctx, p.TenantID, idOrUnknown(req.GetProductId()))
		if err != nil {
			return nil, err
		}
		country = append(countries, "")[0] // Empty if the gift can be sent to no country.
	}
	return override[*catalogv1.RelistSandboxProductResponse]{
		productID: req.GetProductId(), country: country, action: "sandbox.relist",
		change: func(gift *store.SandboxGift) (bool, error) { return gift.Override.Relist() },
		answer: func(e store.Entry, currency string) (*catalogv1.RelistSandboxProductResponse, error) {
			product, err := s.present.product(e, currency)
			return &catalogv1.RelistSandboxProductResponse{Product: product}, err
		},
	}.run(ctx, s, errs)
}

// SetSandboxProductAvailable says whether the key's tenant can send a gift to a country.
func (s *service) SetSandboxProductAvailable(
	ctx context.Context, req *catalogv1.SetSandboxProductAvailableRequest,
) (*catalogv1.SetSandboxProductAvailableResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckCountry(req.GetCountry(), errs)
	if req.Available == nil {
		errs.Add("available", problem.FieldRequired, "is required")
	}
	return override[*catalogv1.SetSandboxProductAvailableResponse]{
		productID: req.GetProductId(), country: req.GetCountry(), action: "sandbox.available",
		detail: map[string]any{"country": req.GetCountry(), "available": req.GetAvailable()},
		change: func(gift *store.SandboxGift) (bool, error) {
			return gift.Override.SetAvailable(gift.Countries, req.GetCountry(), req.GetAvailable())
		},
		answer: func(e store.Entry, currency string) (*catalogv1.SetSandboxProductAvailableResponse, error) {
			product, err := s.present.product(e, currency)
			return &catalogv1.SetSandboxProductAvailableResponse{Product: product}, err
		},
	}.run(ctx, s, errs)
}

// SetSandboxStock sets the stock of a SKU. It waits for reservations of the SKU that are being made, and later ones see the new
// stock.
func (s *service) SetSandboxStock(
	ctx context.Context, req *catalogv1.SetSandboxStockRequest,
) (*catalogv1.SetSandboxStockResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	skuID, stock := rules.ReadSandboxStock(req, errs)
	campaignID := idOrUnknown(req.GetCampaignId())
	var campaign store.CampaignView
	var found bool
	return idempotency.RunInTx(ctx, s.Store.Pool(), func(b *pgx.Batch) {
		s.Store.QueueSandboxStock(b, p.TenantID, campaignID, rules.BaseLocale, idOrUnknown(skuID), &campaign, &found)
	}, func() (effect idempotency.Effect[*catalogv1.SetSandboxStockResponse], err error) {
		if !found || !p.Reaches(campaign.BrandID) {
			return effect, problem.RecordNotFound()
		}
		effect.Record.BrandID = campaign.BrandID
		if err := errs.Err(); err != nil {
			return effect, err
		}
		sku, err := stockedSKU(campaign, skuID)
		if err != nil {
			return effect, err
		}
		if before := *sku.Stock; before != stock {
			act := store.Act{TenantID: p.TenantID, Subject: campaignID, Actor: rules.Sandbox(), Action: "stock.correct"}
			set := rules.Correction{SKUID: skuID, Expected: &before, Stock: stock, Reason: "Set in the sandbox."}
			effect.Queue = func(b *pgx.Batch) {
				s.Store.QueueStock(b, act, store.StockCorrection{Correction: set, Before: before, After: stock})
			}
		}
		sku.Stock = &stock
		effect.Answer = &catalogv1.SetSandboxStockResponse{Campaign: s.present.campaign(campaign)}
		return effect, nil
	})
}

// stockedSKU finds a SKU with finite stock.
func stockedSKU(c store.CampaignView, id string) (*store.SKUView, error) {
	for _, offering := range c.Offerings {
		for i := range offering.SKUs {
			sku := &offering.SKUs[i]
			switch {
			case sku.ID != id:
			case sku.Stock == nil:
				return nil, invalidSKU("names a SKU whose stock is not limited")
			default:
				return sku, nil
			}
		}
	}
	return nil, invalidSKU("names no SKU that the campaign offers")
}

func invalidSKU(message string) error {
	return problem.Invalid(problem.Violation{Field: "skuId", Code: problem.FieldInvalid, Message: message})
}
