package store

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const recordColumns = `l.id, l.external_recipient_id, l.brand_id, l.campaign_id, l.status, l.claim_url_sealed, l.order_id,
  l.created_at, l.approved_at, l.claimed_at, l.cancelled_at, l.updated_at`

const linkColumns = recordColumns + `, l.tenant_id, l.batch_id, l.batch_index, l.locale, l.manager_id, l.details_sealed,
  l.reason_sealed, l.claim_order_id, coalesce(l.claim_lease_until < now(), false),
  (SELECT product_ids FROM link_batches b WHERE b.tenant_id = l.tenant_id AND b.id = l.batch_id)`

func (s *Store) scanRecord(row pgx.CollectableRow) (*linksv1.PersonalLink, error) { return s.scan(row) }

// scan reads recordColumns, and the further columns of the statement into more.
func (s *Store) scan(row pgx.CollectableRow, more ...any) (*linksv1.PersonalLink, error) {
	l := &linksv1.PersonalLink{}
	var url []byte
	targets := []any{
		&l.Id, &l.ExternalRecipientId, &l.BrandId, &l.CampaignId, postgres.ScanEnum(&l.Status), &url, &l.OrderId,
		postgres.ScanTime(&l.CreatedAt), postgres.ScanTime(&l.ApprovedAt), postgres.ScanTime(&l.ClaimedAt),
		postgres.ScanTime(&l.CancelledAt), postgres.ScanTime(&l.UpdatedAt),
	}
	if err := row.Scan(append(targets, more...)...); err != nil {
		return nil, err
	}
	plain, err := s.ring.Open(url, ofURL(l.GetId()))
	if err != nil {
		return nil, fmt.Errorf("claim url of link %s: %w", l.GetId(), err)
	}
	l.ClaimUrl = string(plain)
	if l.CampaignId == nil {
		l.Selection = linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG.Enum()
	}
	return l, nil
}

// scanLink reads linkColumns and decrypts the sealed ones.
func (s *Store) scanLink(row pgx.CollectableRow) (l *rules.Link, err error) {
	l = &rules.Link{}
	var details, reason []byte
	l.Record, err = s.scan(row, &l.TenantID, &l.BatchID, &l.BatchIndex, &l.Locale, &l.ManagerID, &details, &reason,
		&l.ClaimOrderID, &l.ClaimExpired, &l.ProductIDs)
	if err != nil {
		return nil, err
	}
	id := l.Record.GetId()
	if details != nil {
		plain, err := s.ring.Open(details, ofDetails(id))
		if err == nil {
			err = json.Unmarshal(plain, &l.Details)
		}
		if err != nil {
			return nil, fmt.Errorf("details of link %s: %w", id, err)
		}
	}
	if reason != nil {
		plain, err := s.ring.Open(reason, ofReason(id))
		if err != nil {
			return nil, fmt.Errorf("reason of link %s: %w", id, err)
		}
		l.Reason = new(string(plain))
	}
	return l, nil
}

// The associated data bind a sealed value to its link and column.
func ofURL(linkID string) string     { return linkID }
func ofDetails(linkID string) string { return "links.details_sealed/" + linkID }
func ofReason(linkID string) string  { return "links.reason_sealed/" + linkID }

func sealedLinks() seal.Table {
	return seal.Table{Name: "links", Columns: []seal.Column{
		{Name: "claim_url_sealed", AssociatedData: ofURL},
		{Name: "details_sealed", AssociatedData: ofDetails},
		{Name: "reason_sealed", AssociatedData: ofReason},
	}}
}

// SealedColumns are the columns that hold sealed values.
func SealedColumns() []seal.Table { return []seal.Table{sealedLinks(), sealedDrafts()} }
