package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
)

// CampaignFilter of a list of campaigns. Nil and empty members do not filter, but for BrandIDs.
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

// Campaigns reads a page, newest first. The statement is put together from fixed pieces, so that
// each combination of filters has a plan of its own.
func (s *Store) Campaigns(ctx context.Context, f CampaignFilter) ([]CampaignHead, error) {
	sql, args := f.statement()
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list campaigns: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (CampaignHead, error) {
		var c CampaignHead
		return c, row.Scan(c.columns()...)
	})
}

func (f CampaignFilter) statement() (string, []any) {
	var args []any
	var where []string
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	add("c.tenant_id = ?", f.TenantID)
	if !f.AllBrands {
		add("c.brand_id = ANY(?::uuid[])", list(f.BrandIDs))
	}
	if f.BrandID != nil {
		add("c.brand_id = ?", *f.BrandID)
	}
	if f.Status != "" {
		add(statusNow+" = ?", f.Status)
	}
	if f.After != nil {
		add("(c.created_at, c.id) < (?, ?)", f.After.Time, f.After.ID)
	}
	args = append(args, f.Limit)
	return fmt.Sprintf("SELECT %s FROM campaigns c WHERE %s ORDER BY c.created_at DESC, c.id DESC LIMIT $%d",
		campaignHead, strings.Join(where, " AND "), len(args)), args
}
