package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestCheckItem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift(func(p *catalogv1.PutProductRequest) { p.CustomizationAvailable = true })
	other := gift()
	f.put(p)
	f.put(other)
	offer, past := offering(p.GetId(), stocked, limit(0), "S"), time.Now().Add(-time.Second)
	active, expired, draft := f.campaignIn(running, nil, offer), f.campaignIn(running, &past, offer), f.campaignIn(inPreparation, nil, offer)
	good := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: &active, ProductId: p.GetId(),
		Country: "SE", Variations: map[string]string{"Size": "S"},
	}
	t.Run("a gift of a campaign", func(t *testing.T) {
		got := call(f, f.ordering.CheckItem, good)
		require.Equal(t, "Wool blanket", got.GetProductName())
		require.Equal(t, brandID, got.GetCampaignBrandId())
		require.True(t, got.GetStocked())
	})
	t.Run("a gift of the catalog, in any of its variations", func(t *testing.T) {
		req := proto.CloneOf(good)
		req.CampaignId, req.Variations = nil, map[string]string{"Size": "M"}
		got := call(f, f.ordering.CheckItem, req)
		require.Empty(t, got.GetCampaignBrandId())
		require.False(t, got.GetStocked())
	})
	t.Run("a combination that was withdrawn", func(*testing.T) {
		id := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S", "M"))
		call(f, f.campaigns.PutOffering, &catalogv1.PutOfferingRequest{
			TenantId: tenantID, CampaignId: id, Offering: offering(p.GetId(), onDemand, nil, "S"), Actor: staff(),
		})
		req := proto.CloneOf(good)
		req.CampaignId, req.Variations = &id, map[string]string{"Size": "M"}
		refused(f, problem.InvalidVariations, f.ordering.CheckItem, req)
	})
	t.Run("a brand the caller reaches by name", func(*testing.T) {
		req := proto.CloneOf(good)
		req.AllBrands, req.BrandIds = false, []string{brandID}
		call(f, f.ordering.CheckItem, req)
	})
	t.Run("customization of a gift that allows it", func(*testing.T) {
		req := proto.CloneOf(good)
		req.Customization, req.BrandId = true, text(brandID)
		call(f, f.ordering.CheckItem, req)
	})

	wrong := func(r *catalogv1.CheckItemRequest) { r.Country, r.Variations = "FI", nil }
	for name, tc := range map[string]struct {
		change func(r *catalogv1.CheckItemRequest)
		want   problem.Code
	}{
		"customization of a gift that does not allow it, before all others": {
			func(r *catalogv1.CheckItemRequest) {
				r.CampaignId, r.ProductId, r.Customization = nil, other.GetId(), true
				wrong(r)
			}, problem.InvalidRequest,
		},
		"another brand than the campaign's, before the gift": {
			func(r *catalogv1.CheckItemRequest) {
				r.BrandId, r.ProductId = text(uuid.NewString()), "none"
				wrong(r)
			}, problem.BrandCampaignMismatch,
		},
		"an unknown campaign, before all others": {
			func(r *catalogv1.CheckItemRequest) {
				r.CampaignId, r.ProductId = text(uuid.NewString()), "none"
				wrong(r)
			}, problem.CampaignNotFound,
		},
		"a campaign id that is no UUID": {func(r *catalogv1.CheckItemRequest) { r.CampaignId = text("x\x00") }, problem.CampaignNotFound},
		"a campaign of another tenant":  {func(r *catalogv1.CheckItemRequest) { r.TenantId = uuid.NewString() }, problem.CampaignNotFound},
		"a campaign of a brand out of reach": {
			func(r *catalogv1.CheckItemRequest) { r.AllBrands, r.BrandIds = false, []string{uuid.NewString()} }, problem.CampaignNotFound,
		},
		"an expired campaign, before the gift": {
			func(r *catalogv1.CheckItemRequest) {
				r.CampaignId, r.ProductId = &expired, other.GetId()
				wrong(r)
			}, problem.CampaignNotActive,
		},
		"a campaign in preparation": {func(r *catalogv1.CheckItemRequest) { r.CampaignId = &draft }, problem.CampaignNotActive},
		"a gift the campaign does not offer, before the country": {
			func(r *catalogv1.CheckItemRequest) { r.ProductId = other.GetId(); wrong(r) }, problem.ProductNotInCampaign,
		},
		"an unknown gift in a campaign": {func(r *catalogv1.CheckItemRequest) { r.ProductId = "none" }, problem.ProductNotInCampaign},
		"an unknown gift, before the country": {
			func(r *catalogv1.CheckItemRequest) { r.CampaignId, r.ProductId = nil, uuid.NewString(); wrong(r) }, problem.ProductNotAvailable,
		},
		"a country, before the variations": {wrong, problem.NotDeliverableToCountry},
		"no country at all":                {func(r *catalogv1.CheckItemRequest) { r.Country = "\x00" }, problem.NotDeliverableToCountry},
		"a missing dimension":              {func(r *catalogv1.CheckItemRequest) { r.Variations = nil }, problem.InvalidVariations},
		"a dimension too many": {
			func(r *catalogv1.CheckItemRequest) { r.Variations["Colour"] = "Red" }, problem.InvalidVariations,
		},
		"another spelling": {func(r *catalogv1.CheckItemRequest) { r.Variations["Size"] = "s" }, problem.InvalidVariations},
		"a combination the campaign does not offer": {
			func(r *catalogv1.CheckItemRequest) { r.Variations["Size"] = "M" }, problem.InvalidVariations,
		},
	} {
		t.Run(name, func(*testing.T) {
			req := proto.CloneOf(good)
			tc.change(req)
			refused(f, tc.want, f.ordering.CheckItem, req)
		})
	}
	t.Run("the campaign's variations are named", func(t *testing.T) {
		req := proto.CloneOf(good)
		req.Variations["Size"] = "M"
		_, err := f.ordering.CheckItem(t.Context(), req)
		p, ok := problem.As(err)
		require.True(t, ok)
		require.Contains(t, p.Detail, `It offers "Size" "S"`)
	})
	t.Run("a tenant id that is no UUID", func(t *testing.T) {
		require.Equal(t, codes{"tenantId": problem.FieldInvalid}, violations(f, f.ordering.CheckItem, &catalogv1.CheckItemRequest{}))
	})
}

func TestACatalogChangeSuspendsTheOffering(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	f.putCampaign(c)
	item := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: text(c.GetId()), ProductId: p.GetId(),
		Country: "SE", Variations: map[string]string{"Size": "S"},
	}
	call(f, f.ordering.CheckItem, item)

	p.Variations[0].Values = []string{"S", "L"}
	f.put(p)
	call(f, f.ordering.CheckItem, item) // The offered size still exists.
	p.Variations[0].Values = []string{"M"}
	f.put(p)
	p.Variations[0].Values = []string{"S", "M"}
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item) // The gift lost the size, and the offering was not reviewed.
	f.putCampaign(c)
	call(f, f.ordering.CheckItem, item) // Putting the campaign again is the review.

	p.State = archived
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item)
	f.putCampaign(c)
	p.State = published
	f.put(p)
	refused(f, problem.ProductNotAvailable, f.ordering.CheckItem, item) // The review happened while the gift was archived.
	f.putCampaign(c)
	call(f, f.ordering.CheckItem, item)
}
