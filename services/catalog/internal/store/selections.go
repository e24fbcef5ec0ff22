package store

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

var (
	states = newStatement(`SELECT p.id::text, p.state FROM {gifts} p WHERE p.id = ANY($1::uuid[])`, 1)

	giftViews = newStatement(`SELECT `+giftColumns.Select()+` FROM {gifts} p
WHERE p.id = ANY($2::uuid[]) AND p.state = 'PUBLISHED'
ORDER BY array_position($2::uuid[], p.id)`, 2)

	orderedGift = newStatement(`SELECT `+orderedColumns.Select()+` FROM {gifts} p WHERE p.id = $2`, 2)
)

// CampaignHead reads a campaign of a tenant without its offerings.
func (s *Store) CampaignHead(ctx context.Context, tenantID, id string) (CampaignHead, bool, error) {
	return first(postgres.Select(ctx, s.pool, "read campaign", scanHead,
		selectHeads+` WHERE c.tenant_id = $1 AND c.id = $2`, tenantID, id))
}

// States returns the states of the gifts that exist among the ids.
func (s *Store) States(ctx context.Context, tenantID string, ids []string) (map[string]rules.State, error) {
	sql, args := s.forTenant(tenantID, states, ids)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read states of gifts: %w", err)
	}
	found := map[string]rules.State{}
	return found, collectMap(found)(rows)
}

// GiftViews returns the published gifts among the ids, in the order of the ids. Each text is in the first of the locales that has
// it, or else in en-US.
func (s *Store) GiftViews(ctx context.Context, tenantID string, ids []string, locales ...string) ([]GiftView, error) {
	sql, args := s.forTenant(tenantID, giftViews, locales, ids)
	rows, err := postgres.Select(ctx, s.pool, "read gifts", scanOffering(giftColumns, locales), sql, args...)
	return postgres.Column(rows, func(r *offeringRow) GiftView { return r.GiftView }), err
}

// OrderedGift returns a gift in any state, without images that the public may not see. Each text is in the first of the locales
// that has it, or else in en-US.
func (s *Store) OrderedGift(ctx context.Context, tenantID, id string, locales ...string) (g GiftView, found bool, err error) {
	sql, args := s.forTenant(tenantID, orderedGift, locales, id)
	r, found, err := first(postgres.Select(ctx, s.pool, "read gift", scanOffering(orderedColumns, locales), sql, args...))
	if err != nil || !found {
		return g, false, err
	}
	if !r.imagesPublic {
		r.Images = nil
	}
	return r.GiftView, true, nil
}
