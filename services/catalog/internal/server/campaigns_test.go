package server_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// listCampaigns reads all pages of campaigns.
func (f *fixture) listCampaigns(ctx context.Context, req *catalogv1.ListCampaignsRequest) (ids []string) {
	f.t.Helper()
	for _, c := range pages(f.t, req.GetLimit(), func(after *string) ([]*catalogv1.CampaignSummary, *string) {
		req.After = cmp.Or(after, req.After)
		page, err := f.catalog.ListCampaigns(ctx, req)
		require.NoError(f.t, err)
		return page.GetItems(), page.NextCursor
	}) {
		ids = append(ids, c.GetId())
	}
	return ids
}

func TestACampaignInFull(t *testing.T) {
	t.Parallel()
	f := setup(t)
	fileID := f.upload(png)
	blanket := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds = []string{fileID}
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
	})
	mug := gift()
	f.put(blanket)
	f.put(mug)
	c := campaign(offering(mug.GetId(), onDemand, nil, "M"), offering(blanket.GetId(), stocked, limit(3), "S", "M"))
	f.putCampaign(c)
	call(f, f.ordering.Reserve, attempt(c.GetId(), blanket.GetId(), "M"))
	mug.State = archived
	f.put(mug)

	got := call(f, f.catalog.GetCampaign, &catalogv1.GetCampaignRequest{CampaignId: c.GetId(), Locale: text("sv-SE")}).GetCampaign()
	require.Equal(t, c.GetId(), got.GetId())
	require.Equal(t, brandID, got.GetBrandId())
	require.Equal(t, "Summer", got.GetName())
	require.Equal(t, running, got.GetStatus())
	require.Nil(t, got.GetExpiresAt())
	require.Len(t, got.GetOfferings(), 2)

	first, second := got.GetOfferings()[0], got.GetOfferings()[1]
	require.Equal(t, mug.GetId(), first.GetProductId(), "display order")
	require.Equal(t, needsReview, first.GetStatus(), "the gift left the catalog")
	require.Equal(t, onDemand, first.GetSupplyType())
	require.Nil(t, first.GetSkus()[0].StockRemaining)
	require.Equal(t, "Wool blanket", first.GetName(), "not translated")
	require.Equal(t, blanket.GetId(), second.GetProductId())
	require.Equal(t, offered, second.GetStatus())
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
		f.putCampaign(c)
		got := f.readCampaign(c.GetId())
		require.Len(t, got.GetOfferings(), 1)
		require.Len(t, got.GetOfferings()[0].GetSkus(), 1)
	})
	t.Run("one without offerings", func(t *testing.T) {
		empty := campaign()
		f.putCampaign(empty)
		require.Empty(t, f.readCampaign(empty.GetId()).GetOfferings())
	})
}

func TestCampaignsOutOfReachAreNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := campaign()
	f.putCampaign(c)
	get := func(ctx context.Context, id string) error {
		_, err := f.catalog.GetCampaign(ctx, &catalogv1.GetCampaignRequest{CampaignId: id})
		return err
	}
	require.NoError(t, get(f.asBrands(brandID), c.GetId()))
	for name, err := range map[string]error{
		"a brand the key does not reach": get(f.asBrands(uuid.NewString()), c.GetId()),
		"a key without brands":           get(f.asBrands(), c.GetId()),
		"another tenant":                 get(f.asOtherTenant(), c.GetId()),
		"an unknown id":                  get(f.as(1), uuid.NewString()),
		"an id that is no UUID":          get(f.as(1), "x\x00"),
	} {
		require.True(t, problem.Is(err, problem.NotFound), "%s: %v", name, err)
	}
	require.Equal(t, []string{c.GetId()}, f.listCampaigns(f.asBrands(brandID), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(uuid.NewString()), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asOtherTenant(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(), &catalogv1.ListCampaignsRequest{BrandId: text(brandID)}), "a filter does not widen the access")
}

func TestListsOfCampaigns(t *testing.T) {
	t.Parallel()
	f := setup(t)
	past := time.Now().Add(-time.Minute)
	statuses := []catalogv1.CampaignStatus{inPreparation, running, completed}
	var all, ended []string
	for i := range 11 {
		id := f.campaignIn(statuses[i%3], nil)
		all = append(all, id)
		if i%3 == 2 {
			ended = append(ended, id)
		}
	}
	for _, status := range []catalogv1.CampaignStatus{running, inPreparation} {
		expired := f.campaignIn(status, &past)
		all, ended = append(all, expired), append(ended, expired)
	}
	slices.Reverse(all)
	slices.Reverse(ended)
	t.Run("newest first, on pages of every size", func(t *testing.T) {
		for _, n := range []int32{1, 4, 13, 100} {
			require.Equal(t, all, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(n)}))
		}
	})
	t.Run("by status, where an expired campaign has completed", func(t *testing.T) {
		status := completed
		require.Equal(t, ended, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Status: &status, Limit: limit(2)}))
		status = running
		require.Len(t, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Status: &status}), 4)
		status = inPreparation
		require.Len(t, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Status: &status}), 4)
	})
	t.Run("by brand", func(t *testing.T) {
		require.Len(t, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{BrandId: text(brandID)}), len(all))
		require.Empty(t, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{BrandId: text(uuid.NewString())}))
	})
	t.Run("a new campaign neither moves nor repeats the others", func(t *testing.T) {
		first := call(f, f.catalog.ListCampaigns, &catalogv1.ListCampaignsRequest{Limit: limit(5)})
		f.putCampaign(campaign())
		rest := f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Limit: limit(5), After: first.NextCursor})
		require.Equal(t, all[5:], rest)
	})
}

func TestInvalidCampaignQueries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putCampaign(campaign())
	f.putCampaign(campaign())
	unknown := catalogv1.CampaignStatus(9)
	testInvalid(f, f.catalog.ListCampaigns, map[string]invalidRequest[*catalogv1.ListCampaignsRequest]{
		"all errors": {
			&catalogv1.ListCampaignsRequest{BrandId: text("x"), Status: &unknown, Limit: limit(0), After: text("?")},
			codes{"brandId": "invalid", "status": "invalid", "limit": "invalid", "after": "invalid"},
		},
		"an empty brand": {&catalogv1.ListCampaignsRequest{BrandId: text("")}, codes{"brandId": "invalid"}},
	})
}

func TestACursorOfCampaignsBelongsToItsFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putCampaign(campaign())
	f.putCampaign(campaign())
	pagetest.RequireBound(t, &catalogv1.ListCampaignsRequest{Limit: limit(1)}, func(req *catalogv1.ListCampaignsRequest) (string, error) {
		resp, err := f.catalog.ListCampaigns(f.as(1), req)
		return resp.GetNextCursor(), err
	}, nil)
	records := &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Limit: limit(1)}
	pagetest.RequireBound(t, records, func(req *catalogv1.ListCampaignRecordsRequest) (string, error) {
		resp, err := f.campaigns.ListCampaignRecords(t.Context(), req)
		return resp.GetNextCursor(), err
	}, nil)
}

// The first read after its expiry shows a campaign as completed, without any other work.
func TestACampaignCompletesAtItsExpiry(t *testing.T) {
	t.Parallel()
	f := setup(t)
	move := f.moveableClock()
	p := gift()
	f.put(p)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	id := f.campaignIn(running, &end, offering(p.GetId(), onDemand, nil, "S"))
	draft := f.campaignIn(inPreparation, &end)
	require.Equal(t, running, f.readCampaign(id).GetStatus())
	require.Equal(t, end, f.readCampaign(id).GetExpiresAt().AsTime())

	move(time.Hour)
	require.Equal(t, completed, f.readCampaign(id).GetStatus())
	require.Equal(t, completed, f.readCampaign(draft).GetStatus())
	record := call(f, f.campaigns.GetCampaignRecord, &catalogv1.GetCampaignRecordRequest{TenantId: tenantID, CampaignId: draft}).GetRecord()
	require.Equal(t, completed, record.GetStatus())
	records := call(f, f.campaigns.ListCampaignRecords, &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: completed})
	require.Len(t, records.GetRecords(), 2)
	status := completed
	require.Equal(t, []string{draft, id}, f.listCampaigns(f.as(1), &catalogv1.ListCampaignsRequest{Status: &status}))
	refused(f, problem.CampaignNotActive, f.ordering.CheckItem, &catalogv1.CheckItemRequest{
		TenantId: tenantID, AllBrands: true, CampaignId: &id, ProductId: p.GetId(), Country: "SE", Variations: map[string]string{"Size": "S"},
	})
	chosen := call(f, f.selections.ListSelectionGifts, &catalogv1.ListSelectionGiftsRequest{TenantId: tenantID, Selection: ofCampaign(id)})
	require.False(t, chosen.GetOpen())
}
