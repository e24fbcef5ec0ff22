package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Query is one page of the list of a tenant's links.
type Query struct {
	TenantID string
	// AllBrands false limits the list to BrandIDs, which may be empty.
	AllBrands           bool
	BrandIDs            []string
	ExternalRecipientID *string
	CampaignID          *string
	// Status unspecified: every status.
	Status linksv1.PersonalLinkStatus
	// UpdatedSince lists by last change, oldest first; without it the newest link comes first.
	UpdatedSince *time.Time
	// After is the position of the last link of the page before.
	After *cursor.Position
	Limit int
}

const selectRecords = `SELECT ` + recordColumns + ` FROM links l WHERE l.tenant_id = $1`

// List gives at most q.Limit links and whether more follow. Both orders end in the id and are
// total, so a page continues exactly where the one before it ended, whatever was written meanwhile.
func (s *Store) List(ctx context.Context, q Query) (links []*linksv1.PersonalLink, more bool, err error) {
	sql, args := q.statement()
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, false, fmt.Errorf("list links: %w", err)
	}
	links, err = pgx.CollectRows(rows, s.scanRecord)
	if err != nil {
		return nil, false, fmt.Errorf("list links: %w", err)
	}
	if len(links) > q.Limit {
		return links[:q.Limit], true, nil
	}
	return links, false, nil
}

// statement names only the conditions that are set, so that each combination is planned for itself
// and meets its index.
func (q Query) statement() (sql string, args []any) {
	var b strings.Builder
	b.WriteString(selectRecords)
	args = []any{q.TenantID}
	and := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		b.WriteString(" AND " + condition)
	}
	switch {
	case q.AllBrands:
	case len(q.BrandIDs) == 1:
		and("brand_id = ?", q.BrandIDs[0]) // Unlike a list of one, it is met in the index's order.
	default:
		and("brand_id = ANY(?)", append([]string{}, q.BrandIDs...))
	}
	if q.ExternalRecipientID != nil {
		and("external_recipient_id = ?", *q.ExternalRecipientID)
	}
	if q.CampaignID != nil {
		and("campaign_id = ?", *q.CampaignID)
	}
	if q.Status != linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_UNSPECIFIED {
		and("status = ?", rules.StatusName(q.Status))
	}
	if q.UpdatedSince != nil {
		and("updated_at >= ?", *q.UpdatedSince)
	}
	order := " ORDER BY created_at DESC, id DESC"
	after := "(created_at, id) < (?, ?)"
	if q.UpdatedSince != nil {
		order, after = " ORDER BY updated_at, id", "(updated_at, id) > (?, ?)"
	}
	if q.After != nil {
		and(after, q.After.Time, q.After.ID)
	}
	args = append(args, q.Limit+1) // One more than the page tells whether another follows.
	return fmt.Sprintf("%s%s LIMIT $%d", b.String(), order, len(args)), args
}
