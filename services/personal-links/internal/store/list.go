package store

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// List is a page of the links that a key may see.
type List struct {
	Key caller.Principal
	// Filters are those of the request. What is nil does not filter. With UpdatedSince the first is the link whose last change is the
	// oldest; without it the newest link.
	Filters *linksv1.ListPersonalLinksRequest
	// After is the position of the last link of the previous page.
	After *page.Position
	Limit int
}

// List reads a page. Both sort orders end with the id and are total, so a page continues exactly after the previous one, even if
// links were written in between.
func (s *Store) List(ctx context.Context, l List) ([]*linksv1.PersonalLink, error) {
	sql, args := l.statement()
	return postgres.Select(ctx, s.pool, "list links", s.scanRecord, sql, args...)
}

// statement has only the conditions that are set, so that each combination has its own plan and uses its index.
func (l List) statement() (sql string, args []any) {
	w, filters := &postgres.Where{}, l.Filters
	w.And("tenant_id = ?", l.Key.TenantID)
	byBrand := false
	switch {
	case l.Key.AllBrands:
	case len(l.Key.BrandIDs) == 1:
		w.And("brand_id = ?", l.Key.BrandIDs[0]) // Unlike ANY with one element, an equality can be read in the index's order.
	case filters.ExternalRecipientId == nil && filters.CampaignId == nil && filters.Status == nil && filters.GetUpdatedSince() == nil:
		byBrand = true
		w.And("brand_id = within")
	default:
		w.And("brand_id = ANY(?)", append([]string{}, l.Key.BrandIDs...))
	}
	w.Equal("external_recipient_id", filters.ExternalRecipientId)
	w.Equal("campaign_id", filters.CampaignId)
	if filters.Status != nil {
		w.And("status = ?", enumname.String(filters.GetStatus()))
	}
	order, after := "created_at DESC, id DESC", "(created_at, id) < (?, ?)"
	if filters.GetUpdatedSince() != nil {
		w.And("updated_at >= ?", filters.GetUpdatedSince().AsTime())
		order, after = "updated_at, id", "(updated_at, id) > (?, ?)"
	}
	if l.After != nil {
		w.And(after, l.After.Time, l.After.ID)
	}
	columns, limit := recordColumns.Select(), w.Arg(l.Limit)
	sql = fmt.Sprintf("SELECT %s FROM links WHERE %s ORDER BY %s LIMIT %s", columns, w.SQL(), order, limit)
	if byBrand { // A page of each brand, because no index returns the newest links of several brands.
		sql = fmt.Sprintf("SELECT %s FROM (SELECT DISTINCT unnest(%s::uuid[])) AS reach (within) CROSS JOIN LATERAL (%s) AS own "+
			"ORDER BY %s LIMIT %s", columns, w.Arg(l.Key.BrandIDs), sql, order, limit)
	}
	return sql, w.Args()
}
