package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestCampaignsAreOfOneTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id, product := f.campaignWithStock(5)
	before, audited := f.readCampaign(id), f.audit(id)
	correction := add(f.correction(id), 1)
	correction.TenantId = otherTenantID
	refused(f, problem.NotFound, f.campaigns.CorrectStock, correction)
	refused(f, problem.NotFound, f.campaigns.GetCampaignRecord,
		&catalogv1.GetCampaignRecordRequest{TenantId: otherTenantID, CampaignId: id})
	refused(f, problem.NotFound, f.campaigns.StartCampaign,
		&catalogv1.StartCampaignRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.CompleteCampaign,
		&catalogv1.CompleteCampaignRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.PutOffering, &catalogv1.PutOfferingRequest{
		TenantId: otherTenantID, CampaignId: id, Offering: offering(product, onDemand, nil, "S"), Actor: staff(),
	})
	refused(f, problem.NotFound, f.campaigns.RemoveOffering,
		&catalogv1.RemoveOfferingRequest{TenantId: otherTenantID, CampaignId: id, ProductId: product, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.ResumeOffering,
		&catalogv1.ResumeOfferingRequest{TenantId: otherTenantID, CampaignId: id, ProductId: product, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.SetCampaignGreetings,
		&catalogv1.SetCampaignGreetingsRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	t.Run("another tenant lists none", func(t *testing.T) {
		resp, err := f.campaigns.ListCampaignRecords(t.Context(), &catalogv1.ListCampaignRecordsRequest{TenantId: otherTenantID})
		require.NoError(t, err)
		for _, record := range resp.GetRecords() {
			require.NotEqual(t, id, record.GetId())
		}
	})
	t.Run("a cursor of one tenant is not one of another", func(t *testing.T) {
		f.campaignWithStock(1)
		page := call(f, f.campaigns.ListCampaignRecords, &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Limit: proto.Int32(1)})
		require.NotNil(t, page.NextCursor)
		foreign := &catalogv1.ListCampaignRecordsRequest{TenantId: otherTenantID, Limit: proto.Int32(1), After: page.NextCursor}
		require.Equal(t, codes{"after": "invalid"}, violations(f, f.campaigns.ListCampaignRecords, foreign))
	})
	require.True(t, proto.Equal(before, f.readCampaign(id)))
	require.Equal(t, audited, f.audit(id))
}
