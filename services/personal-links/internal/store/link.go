package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const recordColumns = `l.id, l.external_recipient_id, l.brand_id, l.campaign_id, l.status, l.claim_url_sealed, l.order_id,
  l.created_at, l.approved_at, l.claimed_at, l.cancelled_at, l.updated_at`

const linkColumns = recordColumns + `, l.tenant_id, l.batch_id, l.batch_index, l.locale, l.manager_id, l.details_sealed,
  l.reason_sealed, l.claim_order_id, coalesce(l.claim_lease_until < now(), false),
  (SELECT product_ids FROM link_batches b WHERE b.tenant_id = l.tenant_id AND b.id = l.batch_id)`

// recordRow takes the values of recordColumns.
type recordRow struct {
	record                       *linksv1.PersonalLink
	status                       string
	url                          []byte
	created, updated             time.Time
	approved, claimed, cancelled *time.Time
}

func newRecordRow() *recordRow { return &recordRow{record: &linksv1.PersonalLink{}} }

func (r *recordRow) targets() []any {
	l := r.record
	return []any{
		&l.Id, &l.ExternalRecipientId, &l.BrandId, &l.CampaignId, &r.status, &r.url, &l.OrderId,
		&r.created, &r.approved, &r.claimed, &r.cancelled, &r.updated,
	}
}

// link gives the record with its claim URL opened.
func (s *Store) record(r *recordRow) (*linksv1.PersonalLink, error) {
	l := r.record
	url, err := s.ring.Open(r.url, l.GetId())
	if err != nil {
		return nil, fmt.Errorf("claim url of link %s: %w", l.GetId(), err)
	}
	l.ClaimUrl = string(url)
	l.Status = rules.ParseStatus(r.status)
	if l.CampaignId == nil {
		l.Selection = linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG.Enum()
	}
	l.CreatedAt, l.UpdatedAt = timestamppb.New(r.created), timestamppb.New(r.updated)
	l.ApprovedAt, l.ClaimedAt, l.CancelledAt = instant(r.approved), instant(r.claimed), instant(r.cancelled)
	return l, nil
}

func (s *Store) scanRecord(row pgx.CollectableRow) (*linksv1.PersonalLink, error) {
	r := newRecordRow()
	if err := row.Scan(r.targets()...); err != nil {
		return nil, err
	}
	return s.record(r)
}

// scanLink reads linkColumns and opens what is sealed.
func (s *Store) scanLink(row pgx.CollectableRow) (*rules.Link, error) {
	r, l := newRecordRow(), &rules.Link{}
	var details, reason []byte
	err := row.Scan(append(r.targets(), &l.TenantID, &l.BatchID, &l.BatchIndex, &l.Locale, &l.ManagerID, &details, &reason,
		&l.ClaimOrderID, &l.ClaimStale, &l.ProductIDs)...)
	if err != nil {
		return nil, err
	}
	if l.Record, err = s.record(r); err != nil {
		return nil, err
	}
	if details != nil {
		if err := s.openDetails(l, details); err != nil {
			return nil, err
		}
	}
	if reason != nil {
		plain, err := s.ring.Open(reason, reasonPlace(l.Record.GetId()))
		if err != nil {
			return nil, fmt.Errorf("reason of link %s: %w", l.Record.GetId(), err)
		}
		text := string(plain)
		l.Reason = &text
	}
	return l, nil
}

func (s *Store) openDetails(l *rules.Link, sealed []byte) error {
	plain, err := s.ring.Open(sealed, detailsPlace(l.Record.GetId()))
	if err != nil {
		return fmt.Errorf("details of link %s: %w", l.Record.GetId(), err)
	}
	l.Details = &rules.Details{}
	if err := json.Unmarshal(plain, l.Details); err != nil {
		return fmt.Errorf("details of link %s: %w", l.Record.GetId(), err)
	}
	return nil
}

// What is sealed is bound to its column and link.
func detailsPlace(linkID string) string { return "links.details_sealed/" + linkID }
func reasonPlace(linkID string) string  { return "links.reason_sealed/" + linkID }

func instant(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}
