package catalog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestCheckItem(t *testing.T) {
	s := setup(t)
	p := gift(func(p *catalogv1.PutProductRequest) { p.CustomizationAvailable = true })
	other := gift()
	s.put(p)
	s.put(other)
	c := campaign(offering(p.GetId(), stocked, limit(0), "S"))
	s.putCampaign(c)
	expired, draft := campaign(c.GetOfferings()...), campaign(c.GetOfferings()...)
	expired.ExpiresAt = timestamppb.New(time.Now().Add(-time.Second))
	draft.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	s.putCampaign(expired)
	s.putCampaign(draft)

	good := &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: text(c.GetId()), ProductId: p.GetId(),
		Country: "SE", Variations: map[string]string{"Size": "S"},
	}
	t.Run("a gift of a campaign", func(t *testing.T) {
		got, err := s.ordering.CheckItem(t.Context(), good)
		require.NoError(t, err)
		require.Equal(t, "Wool blanket", got.GetProductName())
		require.Equal(t, brandID, got.GetCampaignBrandId())
		require.True(t, got.GetStocked())
	})
	t.Run("a gift of the catalog, in any of its variations", func(t *testing.T) {
		req := proto.CloneOf(good)
		req.CampaignId, req.Variations = nil, map[string]string{"Size": "M"}
		got, err := s.ordering.CheckItem(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, got.GetCampaignBrandId())
		require.False(t, got.GetStocked())
	})
	t.Run("a brand the caller reaches by name", func(t *testing.T) {
		req := proto.CloneOf(good)
		req.AllBrands, req.BrandIds = false, []string{brandID}
		_, err := s.ordering.CheckItem(t.Context(), req)
		require.NoError(t, err)
	})

	t.Run("customization of a gift that allows it", func(t *testing.T) {
		req := proto.CloneOf(good)
		req.Customization, req.BrandId = true, text(brandID)
		_, err := s.ordering.CheckItem(t.Context(), req)
		require.NoError(t, err)
	})

	wrong := func(r *catalogv1.CheckItemRequest) { r.Country, r.Variations = "FI", nil }
	for name, tc := range map[string]struct {
		change func(r *catalogv1.CheckItemRequest)
		want   problem.Code
	}{
		"customization of a gift that does not allow it, before all else": {
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
		"an unknown campaign, before all else": {
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
				r.CampaignId, r.ProductId = text(expired.GetId()), other.GetId()
				wrong(r)
			}, problem.CampaignNotActive,
		},
		"a campaign in preparation": {func(r *catalogv1.CheckItemRequest) { r.CampaignId = text(draft.GetId()) }, problem.CampaignNotActive},
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
		t.Run(name, func(t *testing.T) {
			req := proto.CloneOf(good)
			tc.change(req)
			_, err := s.ordering.CheckItem(t.Context(), req)
			require.True(t, problem.Is(err, tc.want), "%v", err)
		})
	}
	t.Run("a tenant id that is no UUID", func(t *testing.T) {
		_, err := s.ordering.CheckItem(t.Context(), &catalogv1.CheckItemRequest{})
		require.Equal(t, map[string]string{"tenantId": problem.FieldInvalid}, violations(t, err))
	})
}

func TestACatalogChangeSuspendsTheOffering(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	s.putCampaign(c)
	check := func() error {
		_, err := s.ordering.CheckItem(t.Context(), &catalogv1.CheckItemRequest{
			TenantId: tenantID, AllBrands: true, CampaignId: text(c.GetId()), ProductId: p.GetId(),
			Country: "SE", Variations: map[string]string{"Size": "S"},
		})
		return err
	}
	require.NoError(t, check())

	p.Variations[0].Values = []string{"S", "L"}
	s.put(p)
	require.NoError(t, check(), "what is offered still exists")
	p.Variations[0].Values = []string{"M"}
	s.put(p)
	p.Variations[0].Values = []string{"S", "M"}
	s.put(p)
	require.True(t, problem.Is(check(), problem.ProductNotAvailable), "the size was gone, and nobody has reviewed the offering")
	s.putCampaign(c)
	require.NoError(t, check(), "putting the campaign again is the review")

	p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	s.put(p)
	require.True(t, problem.Is(check(), problem.ProductNotAvailable))
	s.putCampaign(c)
	p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	s.put(p)
	require.True(t, problem.Is(check(), problem.ProductNotAvailable), "it was put while the gift was not there")
	s.putCampaign(c)
	require.NoError(t, check())
}
