package gateway

import (
	"strings"

	"github.com/partnergifting/platform/gateway/internal/edge"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/preview"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// operationsServer makes the server of the operations plane, which is not reached by the public. It is nil without an address.
func (g *Gateway) operationsServer(conns edge.Connections, site *giftsite.Site) (*rpc.Server, error) {
	if g.cfg.GRPCAddr == "" {
		return nil, nil //nolint:nilnil // There is none.
	}
	server, err := rpc.NewServer(rpc.Config{
		Addr: g.cfg.GRPCAddr, TLS: g.cfg.TLS, LameDuck: g.cfg.LameDuck, DrainTimeout: g.cfg.DrainTimeout,
	}, g.tel)
	if err != nil {
		return nil, err
	}
	giftsitev1.RegisterGiftSiteOperationsServiceServer(server, preview.New(preview.Deps{
		Site:    site,
		Links:   linksv1.NewGiftSiteServiceClient(conns.PersonalLinks),
		Images:  catalogv1.NewImagesServiceClient(conns.Catalog),
		Tenants: tenants.NewCache(tenantsv1.NewDirectoryServiceClient(conns.Tenants)),
	}, preview.Config{ImageURL: strings.TrimSuffix(g.cfg.PublicURL, "/") + edge.ImagesPath}))
	return server, nil
}
