package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// GiftSite serves the pages a player opens with a link.
type GiftSite struct {
	linksv1.UnimplementedGiftSiteServiceServer

	Store   *store.Store
	Tenants tenantsv1.DirectoryServiceClient
	Catalog catalogv1.SelectionsServiceClient
	Claims  *claims.Saga
}

// byToken finds the link of a token. Its errors say nothing of the token.
func (g *GiftSite) byToken(ctx context.Context, token string) (*rules.Link, error) {
	hash, ok := rules.HashToken(token)
	if !ok {
		return nil, unknownLink()
	}
	link, err := g.Store.ByToken(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknownLink()
	}
	return link, err
}

func unknownLink() error { return problem.New(problem.NotFound, "There is no such link.") }

// selection gives the gifts of a link as they can be chosen now.
func (g *GiftSite) selection(ctx context.Context, l *rules.Link) (*catalogv1.ListSelectionGiftsResponse, error) {
	return g.Catalog.ListSelectionGifts(ctx, &catalogv1.ListSelectionGiftsRequest{
		TenantId:  l.TenantID,
		Selection: &catalogv1.Selection{CampaignId: l.Record.CampaignId, ProductIds: l.ProductIDs},
		Locale:    l.Locale,
	})
}
