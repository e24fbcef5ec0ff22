package catalog_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// limited is a context of a key of the tenant that reaches the brands only.
func (s *stack) limited(brands ...string) context.Context {
	s.t.Helper()
	p := caller.Principal{TenantID: tenantID, KeyID: 2, BrandIDs: brands, TenantVersion: 1}
	ctx, err := caller.Outgoing(s.t.Context(), p, caller.Request{})
	require.NoError(s.t, err)
	return ctx
}

// foreign is a context of a key of another tenant.
func (s *stack) foreign() context.Context {
	s.t.Helper()
	ctx, err := caller.Outgoing(s.t.Context(), caller.Principal{TenantID: otherTenantID, AllBrands: true, TenantVersion: 1}, caller.Request{})
	require.NoError(s.t, err)
	return ctx
}

func (s *stack) readCampaign(id string) *catalogv1.Campaign {
	s.t.Helper()
	got, err := s.catalog.GetCampaign(s.as(1), &catalogv1.GetCampaignRequest{CampaignId: id})
	require.NoError(s.t, err)
	return got.GetCampaign()
}

// listCampaigns follows all pages.
func (s *stack) listCampaigns(ctx context.Context, req *catalogv1.ListCampaignsRequest) []string {
	s.t.Helper()
	var all []string
	for {
		got, err := s.catalog.ListCampaigns(ctx, req)
		require.NoError(s.t, err)
		for _, c := range got.GetItems() {
			all = append(all, c.GetId())
		}
		if got.NextCursor == nil {
			return all
		}
		require.Len(s.t, got.GetItems(), int(req.GetLimit()))
		req.After = got.NextCursor
	}
}

func TestACampaignInFull(t *testing.T) {
	s := setup(t)
	fileID := s.upload(png)
	blanket := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds = []string{fileID}
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
	})
	mug := gift()
	s.put(blanket)
	s.put(mug)
	c := campaign(offering(mug.GetId(), onDemand, nil, "M"), offering(blanket.GetId(), stocked, limit(3), "S", "M"))
	s.putCampaign(c)
	_, err := s.ordering.Reserve(t.Context(), s.attempt(c.GetId(), blanket.GetId(), "M"))
	require.NoError(t, err)
	mug.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	s.put(mug)

	resp, err := s.catalog.GetCampaign(s.as(1), &catalogv1.GetCampaignRequest{CampaignId: c.GetId(), Locale: text("sv-SE")})
	require.NoError(t, err)
	got := resp.GetCampaign()
	require.Equal(t, c.GetId(), got.GetId())
	require.Equal(t, brandID, got.GetBrandId())
	require.Equal(t, "Summer", got.GetName())
	require.Equal(t, catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, got.GetStatus())
	require.Nil(t, got.GetExpiresAt())
	require.Len(t, got.GetOfferings(), 2)

	first, second := got.GetOfferings()[0], got.GetOfferings()[1]
	require.Equal(t, mug.GetId(), first.GetProductId(), "display order")
	require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_NEEDS_REVIEW, first.GetStatus(), "the gift left the catalog")
	require.Equal(t, onDemand, first.GetSupplyType())
	require.Nil(t, first.GetSkus()[0].StockRemaining)
	require.Equal(t, "Wool blanket", first.GetName(), "not translated")
	require.Equal(t, blanket.GetId(), second.GetProductId())
	require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_ACTIVE, second.GetStatus())
	require.Equal(t, "Ullfilt", second.GetName())
	require.Equal(t, stocked, second.GetSupplyType())
	require.Equal(t, publicURL+"/catalog/images/"+fileID, second.GetImages()[0].GetUrl())
	require.Len(t, second.GetSkus(), 2)
	left := map[string]int32{}
	for _, sku := range second.GetSkus() {
		require.NoError(t, uuid.Validate(sku.GetId()))
		left[sku.GetVariations()["Size"]] = sku.GetStockRemaining()
	}
	require.Equal(t, map[string]int32{"S": 3, "M": 2}, left)

	t.Run("a combination that is not offered any more is not shown", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(blanket.GetId(), stocked, limit(3), "S")}
		s.putCampaign(c)
		got := s.readCampaign(c.GetId())
		require.Len(t, got.GetOfferings(), 1)
		require.Len(t, got.GetOfferings()[0].GetSkus(), 1)
	})
	t.Run("one without offerings", func(t *testing.T) {
		empty := campaign()
		s.putCampaign(empty)
		require.Empty(t, s.readCampaign(empty.GetId()).GetOfferings())
	})
}

func TestCampaignsOutOfReachDoNotExist(t *testing.T) {
	s := setup(t)
	c := campaign()
	s.putCampaign(c)
	get := func(ctx context.Context, id string) error {
		_, err := s.catalog.GetCampaign(ctx, &catalogv1.GetCampaignRequest{CampaignId: id})
		return err
	}
	require.NoError(t, get(s.limited(brandID), c.GetId()))
	for name, err := range map[string]error{
		"a brand the key does not reach": get(s.limited(uuid.NewString()), c.GetId()),
		"a key without brands":           get(s.limited(), c.GetId()),
		"another tenant":                 get(s.foreign(), c.GetId()),
		"an unknown id":                  get(s.as(1), uuid.NewString()),
		"an id that is no UUID":          get(s.as(1), "x\x00"),
	} {
		require.True(t, problem.Is(err, problem.NotFound), "%s: %v", name, err)
	}
	require.Equal(t, []string{c.GetId()}, s.listCampaigns(s.limited(brandID), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, s.listCampaigns(s.limited(uuid.NewString()), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, s.listCampaigns(s.limited(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, s.listCampaigns(s.foreign(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, s.listCampaigns(s.limited(), &catalogv1.ListCampaignsRequest{BrandId: text(brandID)}), "a filter opens nothing")
}

func TestListsOfCampaigns(t *testing.T) {
	s := setup(t)
	past := time.Now().Add(-time.Minute)
	statuses := []catalogv1.CampaignStatus{
		catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT, catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED,
	}
	var all, completed []string
	for i := range 11 {
		id := s.campaignIn(statuses[i%3], nil)
		all = append(all, id)
		if i%3 == 2 {
			completed = append(completed, id)
		}
	}
	expired := s.campaignIn(catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, &past)
	all, completed = append(all, expired), append(completed, expired)
	slices.Reverse(all)
	slices.Reverse(completed)

	t.Run("newest first, on pages of every size", func(t *testing.T) {
		for _, n := range []int32{1, 4, 12, 100} {
			require.Equal(t, all, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(n)}))
		}
	})
	t.Run("by status, where an expired campaign has completed", func(t *testing.T) {
		status := catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED
		require.Equal(t, completed, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Status: &status, Limit: limit(2)}))
		status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE
		require.Len(t, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Status: &status}), 4)
	})
	t.Run("by brand", func(t *testing.T) {
		require.Len(t, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{BrandId: text(brandID)}), len(all))
		require.Empty(t, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{BrandId: text(uuid.NewString())}))
	})
	t.Run("one made while pages are read neither moves nor repeats the others", func(t *testing.T) {
		first, err := s.catalog.ListCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(5)})
		require.NoError(t, err)
		s.putCampaign(campaign())
		rest := s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(5), After: first.NextCursor})
		require.Equal(t, all[5:], rest)
	})
}

func TestFaultyCampaignQueries(t *testing.T) {
	s := setup(t)
	s.putCampaign(campaign())
	s.putCampaign(campaign())
	first, err := s.catalog.ListCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(1)})
	require.NoError(t, err)
	unknown := catalogv1.CampaignStatus(9)
	active := catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE
	for name, tc := range map[string]struct {
		req  *catalogv1.ListCampaignsRequest
		want map[string]string
	}{
		"all at once": {
			&catalogv1.ListCampaignsRequest{BrandId: text("x"), Status: &unknown, Limit: limit(0), After: text("?")},
			map[string]string{"brandId": "invalid", "status": "invalid", "limit": "invalid", "after": "invalid"},
		},
		"a cursor of other filters": {
			&catalogv1.ListCampaignsRequest{Status: &active, After: first.NextCursor}, map[string]string{"after": "invalid"},
		},
		"an empty brand": {&catalogv1.ListCampaignsRequest{BrandId: text("")}, map[string]string{"brandId": "invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.catalog.ListCampaigns(s.as(1), tc.req)
			require.Equal(t, tc.want, violations(t, err))
		})
	}
	t.Run("an unsupported locale names the supported ones", func(t *testing.T) {
		_, err := s.catalog.GetCampaign(s.as(1), &catalogv1.GetCampaignRequest{CampaignId: "x", Locale: text("de-DE")})
		require.Equal(t, map[string]string{"locale": problem.FieldNotEnabled}, violations(t, err))
		p, _ := problem.As(err)
		require.Contains(t, p.Violations[0].Message, "en-US, sv-SE")
	})
}

// A campaign completes at its instant though nobody calls: the first read after it says so.
func TestACampaignCompletesAtItsInstant(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	var end time.Time
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT clock_timestamp() + interval '400 milliseconds'`).Scan(&end))
	id := s.campaignIn(catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, &end, offering(p.GetId(), onDemand, nil, "S"))
	draft := s.campaignIn(catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT, &end)
	require.Equal(t, catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, s.readCampaign(id).GetStatus())
	require.Equal(t, end.UTC(), s.readCampaign(id).GetExpiresAt().AsTime())

	// The database waits for its own clock, which is the one that decides.
	_, err := s.db.Exec(t.Context(), `SELECT pg_sleep_until($1)`, end)
	require.NoError(t, err)
	require.Equal(t, catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED, s.readCampaign(id).GetStatus())
	require.Equal(t, catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT, s.readCampaign(draft).GetStatus())
	completed := catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED
	require.Equal(t, []string{id}, s.listCampaigns(s.as(1), &catalogv1.ListCampaignsRequest{Status: &completed}))
	_, err = s.ordering.CheckItem(t.Context(), &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: &id, ProductId: p.GetId(), Country: "SE", Variations: map[string]string{"Size": "S"},
	})
	require.True(t, problem.Is(err, problem.CampaignNotActive), "%v", err)
	chosen, err := s.selections.ListSelectionGifts(t.Context(), &catalogv1.ListSelectionGiftsRequest{TenantId: tenantID, Selection: ofCampaign(id)})
	require.NoError(t, err)
	require.False(t, chosen.GetOpen())
}
