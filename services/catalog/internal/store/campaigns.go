package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/postgres"
)

// CampaignFilter of a list of campaigns. Nil and empty fields do not filter, except for BrandIDs.
type CampaignFilter struct {
	TenantID string
	// AllBrands false: only campaigns of BrandIDs.
	AllBrands bool
	BrandIDs  []string
	BrandID   *string
	Status    string
	After     *cursor.Position
	Limit     int
}

// Campaigns reads a page, newest first.
func (s *Store) Campaigns(ctx context.Context, f CampaignFilter) ([]CampaignHead, error) {
	var w postgres.Where
	w.And("c.tenant_id = ?", f.TenantID)
	if !f.AllBrands {
		w.And("c.brand_id = ANY(?::uuid[])", list(f.BrandIDs))
	}
	w.Equal("c.brand_id", f.BrandID)
	w.Equal(statusNow, postgres.Nullable(f.Status))
	if f.After != nil {
		w.And("(c.created_at, c.id) < (?, ?)", f.After.Time, f.After.ID)
	}
	sql := "SELECT " + campaignHead + " FROM campaigns c WHERE " + w.SQL() +
		" ORDER BY c.created_at DESC, c.id DESC LIMIT " + w.Arg(f.Limit)
	rows, err := s.pool.Query(ctx, sql, w.Args()...)
	if err != nil {
		return nil, fmt.Errorf("list campaigns: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (CampaignHead, error) {
		var c CampaignHead
		return c, row.Scan(c.columns()...)
	})
}
