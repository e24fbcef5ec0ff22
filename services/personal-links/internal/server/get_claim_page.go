package server

import (
	"context"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// GetClaimPage shows the link as it stands now.
func (g *GiftSite) GetClaimPage(ctx context.Context, req *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	link, err := g.byToken(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	// Fresh: the brand may just have changed its looks, and no version of the settings is at hand.
	settings, err := g.Tenants.GetTenantSettings(ctx, &tenantsv1.GetTenantSettingsRequest{TenantId: link.TenantID})
	if err != nil {
		return nil, err
	}
	var selection *catalogv1.ListSelectionGiftsResponse
	if status := link.Record.GetStatus(); status == rules.Active || status == rules.Requested {
		if selection, err = g.selection(ctx, link); err != nil {
			return nil, err
		}
	}
	return rules.ClaimPage(link, settings.GetBrands(), selection), nil
}
