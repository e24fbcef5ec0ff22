package gateway

import (
	"context"

	"github.com/partnergifting/platform/gateway/internal/edge"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/preview"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/tenants"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// registerPreview registers the preview of the gift site for internal teams.
func registerPreview(
	server *rpc.Server, cfg Config, conns edge.Connections, letters func(ctx context.Context) []string, site *giftsite.Site,
) {
	giftsitev1.RegisterGiftSiteOperationsServiceServer(server, preview.New(preview.Deps{
		Site:    site,
		Links:   linksv1.NewGiftSiteServiceClient(conns.PersonalLinks),
		Images:  imagesOfAllCells(conns, letters),
		Tenants: tenants.NewGlobalCache(tenantsv1.NewDirectoryServiceClient(conns.Tenants)),
		Letters: letters,
	}, preview.Config{ImageURL: cfg.PublicURL + edge.ImagesPath}))
}
