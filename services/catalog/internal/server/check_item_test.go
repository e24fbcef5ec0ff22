package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestCheckItem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift(func(p *catalogv1.PutProductRequest) { p.CustomizationAvailable = true })
	f.put(p)
	active := f.campaignIn(running, nil, offering(p.GetId(), stocked, limit(0), "S"))
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
