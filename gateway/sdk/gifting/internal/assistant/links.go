package assistant

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

type campaignQuery struct {
	paging

	Status  string `json:"status,omitempty" jsonschema:"DRAFT, ACTIVE or COMPLETED"`
	BrandID string `json:"brandId,omitempty"`
}

func (t *tools) campaigns(ctx context.Context, in campaignQuery) (any, error) {
	return t.Client.Campaigns.List(ctx, gifting.ListCampaignsQuery{
		Paging: in.paging.paging(), Status: gifting.CampaignStatus(in.Status), BrandID: in.BrandID,
	}).First()
}

type oneCampaign struct {
	inLocale
	record
}

func (t *tools) campaign(ctx context.Context, in oneCampaign) (any, error) {
	return t.Client.Campaigns.Get(ctx, in.ID, gifting.GetCampaignQuery{Locale: in.Locale})
}

func (t *tools) link(ctx context.Context, in record) (any, error) {
	return t.Client.PersonalLinks.Get(ctx, in.ID)
}

type linkQuery struct {
	paging

	Status              string `json:"status,omitempty" jsonschema:"REQUESTED, ACTIVE, CLAIMED, EXPIRED or CANCELLED"`
	CampaignID          string `json:"campaignId,omitempty"`
	ExternalRecipientID string `json:"externalRecipientId,omitempty" jsonschema:"the operator's own id of the player"`
}

func (t *tools) links(ctx context.Context, in linkQuery) (any, error) {
	return t.Client.PersonalLinks.List(ctx, gifting.ListPersonalLinksQuery{
		Paging: in.paging.paging(), Status: gifting.PersonalLinkStatus(in.Status), CampaignID: in.CampaignID,
		ExternalRecipientID: in.ExternalRecipientID,
	}).First()
}

// maxLinks is how many recipients, or gifts, a person can read before confirming.
const maxLinks = 20

var errTooMany = errors.New("a call takes at most 20 recipients and 20 gifts: nothing was done")

func (t *tools) createLinks(
	ctx context.Context, req *mcp.CallToolRequest, batch gifting.CreatePersonalLinksRequest,
) (*mcp.CallToolResult, any, error) {
	if max(len(batch.Recipients), len(batch.ProductIDs)) > maxLinks {
		return nil, nil, errTooMany
	}
	return act(ctx, t, req, batch, func(tenant string) []string {
		lines := []string{fmt.Sprintf("Create %d personal links of %q in PRODUCTION? Each leads to a gift that will really be sent.",
			len(batch.Recipients), tenant)}
		if batch.CampaignID == nil {
			return lines
		}
		campaign, err := t.Client.Campaigns.Get(ctx, *batch.CampaignID, gifting.GetCampaignQuery{})
		if err != nil {
			return append(lines, fmt.Sprintf("campaign: its name could not be read: %q", errorText(err)))
		}
		return append(lines, fmt.Sprintf("campaign: %q", campaign.Name))
	}, func(once gifting.CallOption) (*gifting.PersonalLinkResults, error) {
		return t.Client.PersonalLinks.Create(ctx, batch, once)
	})
}
