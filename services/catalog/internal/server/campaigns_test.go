package server_test

import (
	"cmp"
	"context"
	"strings"
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
		"an unknown id":                  get(f.keyContext(1), uuid.NewString()),
		"an id that is no UUID":          get(f.keyContext(1), "x\x00"),
	} {
		require.True(t, problem.Is(err, problem.NotFound), "%s: %v", name, err)
	}
	require.Equal(t, []string{c.GetId()}, f.listCampaigns(f.asBrands(brandID), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(uuid.NewString()), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asOtherTenant(), &catalogv1.ListCampaignsRequest{}))
	require.Empty(t, f.listCampaigns(f.asBrands(), &catalogv1.ListCampaignsRequest{BrandId: text(brandID)}),
		"a filter does not widen the access")
}

func TestACursorOfCampaignsBelongsToItsFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putCampaign(campaign())
	f.putCampaign(campaign())
	campaigns := &catalogv1.ListCampaignsRequest{Limit: limit(1)}
	pagetest.RequireBound(t, campaigns, func(req *catalogv1.ListCampaignsRequest) (string, error) {
		resp, err := f.catalog.ListCampaigns(f.keyContext(1), req)
		return resp.GetNextCursor(), err
	}, nil)
	records := &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Limit: limit(1)}
	pagetest.RequireBound(t, records, func(req *catalogv1.ListCampaignRecordsRequest) (string, error) {
		resp, err := f.campaigns.ListCampaignRecords(t.Context(), req)
		return resp.GetNextCursor(), err
	}, nil)
}

func TestACursorOfCampaignsIsGoodForTheSameBrandInOtherLetters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putCampaign(campaign())
	last := campaign()
	f.putCampaign(last)
	first := &catalogv1.ListCampaignsRequest{BrandId: text(strings.ToUpper(brandID)), Limit: limit(1)}
	page, err := f.catalog.ListCampaigns(f.keyContext(1), first)
	require.NoError(t, err)
	require.Equal(t, last.GetId(), page.GetItems()[0].GetId())
	second := &catalogv1.ListCampaignsRequest{BrandId: text(brandID), After: page.NextCursor}
	require.Len(t, f.listCampaigns(f.keyContext(1), second), 1)
	records, err := f.campaigns.ListCampaignRecords(t.Context(),
		&catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, BrandId: text(strings.ToUpper(brandID)), Limit: limit(1)})
	require.NoError(t, err)
	_, err = f.campaigns.ListCampaignRecords(t.Context(),
		&catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, BrandId: text(brandID), After: records.NextCursor})
	require.NoError(t, err)
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

	move(time.Hour)
	require.Equal(t, completed, f.readCampaign(id).GetStatus())
	record := call(f, f.campaigns.GetCampaignRecord, &catalogv1.GetCampaignRecordRequest{
		TenantId: tenantID, CampaignId: draft,
	}).GetRecord()
	require.Equal(t, completed, record.GetStatus())
	records := call(f, f.campaigns.ListCampaignRecords, &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: completed})
	require.Len(t, records.GetRecords(), 2)
	listed := f.listCampaigns(f.keyContext(1), &catalogv1.ListCampaignsRequest{Status: new(completed)})
	require.Equal(t, []string{draft, id}, listed)
	require.False(t, f.siteGifts(ofCampaign(id), "").GetOpen())
}
