package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// ListCampaigns lists the campaigns of the brands the key reaches. A campaign that is made while
// pages are read stands before the first page.
func (c *Catalog) ListCampaigns(ctx context.Context, req *catalogv1.ListCampaignsRequest) (*catalogv1.ListCampaignsResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	filter := store.CampaignFilter{TenantID: p.TenantID, AllBrands: p.AllBrands, BrandIDs: p.BrandIDs}
	if req.BrandId != nil {
		id := errs.UUID("brandId", req.GetBrandId())
		filter.BrandID = &id
	}
	if req.Status != nil {
		filter.Status = rules.ReadCampaignStatus(req.GetStatus(), errs)
	}
	bind := cursor.Bind("campaigns", p.TenantID, page.Part(req.BrandId), strconv.Itoa(int(req.GetStatus())))
	filter.After = page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs) // After the cursor, which belongs to pages of every size.
	if err := errs.Err(); err != nil {
		return nil, err
	}
	filter.Limit = limit + 1 // One more tells whether there is a next page.
	found, err := c.store.Campaigns(ctx, filter)
	if err != nil {
		return nil, err
	}
	return campaignPage(found, limit, bind), nil
}

func campaignPage(found []store.CampaignHead, limit int, bind cursor.Binding) *catalogv1.ListCampaignsResponse {
	resp := &catalogv1.ListCampaignsResponse{}
	if len(found) > limit {
		found = found[:limit]
		next := bind.EncodePosition(found[limit-1].Position())
		resp.NextCursor = &next
	}
	for _, c := range found {
		resp.Items = append(resp.Items, &catalogv1.CampaignSummary{
			Id: c.ID, BrandId: c.BrandID, Name: c.Name, Status: campaignStatus(c.Status), ExpiresAt: timestamp(c.ExpiresAt),
		})
	}
	return resp
}
