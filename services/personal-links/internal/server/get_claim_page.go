package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// GetClaimPage shows the link as it is now.
func (s *Server) GetClaimPage(ctx context.Context, req *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	link, err := s.byToken(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	// The brand may just have changed its looks, and the call carries no version of the settings.
	settings, err := s.tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return nil, err
	}
	var selection *catalogv1.ListSelectionGiftsResponse
	if status := link.Record.GetStatus(); status == rules.Active || status == rules.Requested {
		if selection, err = s.listGifts(ctx, link); err != nil {
			return nil, err
		}
	}
	return rules.ClaimPage(link, settings.GetBrands(), selection), nil
}

// byToken finds the link of a token. Its errors do not name the token.
func (s *Server) byToken(ctx context.Context, token string) (*rules.Link, error) {
	unknown := problem.New(problem.NotFound, "There is no such link.")
	hash, ok := rules.HashToken(token)
	if !ok {
		return nil, unknown
	}
	link, err := s.store.ByToken(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknown
	}
	return link, err
}

// listGifts returns the gifts of a link as they can be chosen now.
func (s *Server) listGifts(ctx context.Context, l *rules.Link) (*catalogv1.ListSelectionGiftsResponse, error) {
	return s.catalog.ListSelectionGifts(ctx, &catalogv1.ListSelectionGiftsRequest{
		TenantId:  l.TenantID,
		Selection: &catalogv1.Selection{CampaignId: l.Record.CampaignId, ProductIds: l.ProductIDs},
		Locale:    l.Locale,
	})
}
