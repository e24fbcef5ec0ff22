package store

import (
	"context"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// Query is one page of the list of a tenant's links.
type Query struct {
	TenantID string
	// AllBrands false limits the list to BrandIDs, which may be empty.
	AllBrands           bool
	BrandIDs            []string
	ExternalRecipientID *string
	CampaignID          *string
	Status              *linksv1.PersonalLinkStatus
	// UpdatedSince lists by last change, oldest first; without it the newest link comes first.
	UpdatedSince *time.Time
	// After is the position of the last link of the previous page.
	After *page.Position
	Limit int
}

// List reads up to q.Limit links. Both sort orders end with the id and are total, so a page continues exactly after the
// previous one, even if links were written in between.
func (s *Store) List(ctx context.Context, q Query) ([]*linksv1.PersonalLink, error) {
	sql, args := q.statement()
	return postgres.Select(ctx, s.pool, "list links", s.scanRecord, sql, args...)
}

// statement has only the conditions that are set, so that each combination has its own plan and uses its index.
func (q Query) statement() (sql string, args []any) {
	w := &postgres.Where{}
	w.And("tenant_id = ?", q.TenantID)
	switch {
	case q.AllBrands:
	case len(q.BrandIDs) == 1:
		w.And("brand_id = ?", q.BrandIDs[0]) // Unlike ANY with one element, an equality can be read in the index's order.
	default:
		w.And("brand_id = ANY(?)", append([]string{}, q.BrandIDs...))
	}
	w.Equal("external_recipient_id", q.ExternalRecipientID)
	w.Equal("campaign_id", q.CampaignID)
	if q.Status != nil {
		w.And("status = ?", enumname.String(*q.Status))
	}
	order, after := "created_at DESC, id DESC", "(created_at, id) < (?, ?)"
	if q.UpdatedSince != nil {
		w.And("updated_at >= ?", *q.UpdatedSince)
		order, after = "updated_at, id", "(updated_at, id) > (?, ?)"
	}
	if q.After != nil {
		w.And(after, q.After.Time, q.After.ID)
	}
	return fmt.Sprintf("SELECT %s FROM links WHERE %s ORDER BY %s LIMIT %s", recordColumns.Select(), w.SQL(), order,
		w.Arg(q.Limit)), w.Args()
}
