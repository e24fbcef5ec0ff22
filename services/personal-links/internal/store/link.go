package store

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// row is a row of the table links.
type row struct {
	*rules.Link

	record                          *linksv1.PersonalLink
	url, details, reason, tokenHash []byte
}

const (
	made     postgres.Use = 1 << iota // Written when the link is made.
	changed                           // Written by each change.
	erased                            // Written when the link is erased.
	inRecord                          // Read with the record.
	inLink                            // Read beside the record with a link.
	withOne                           // Read with one link, but not with each of a list.
)

// columns of a link.
var columns = postgres.Columns[row]{
	postgres.Field("id", made|inRecord, func(r *row) *string { return &r.record.Id }).Cast("::uuid", ""),
	postgres.Field("external_recipient_id", made|erased|inRecord, func(r *row) **string { return &r.record.ExternalRecipientId }),
	postgres.Field("brand_id", made|inRecord, func(r *row) *string { return &r.record.BrandId }).Cast("::uuid", ""),
	postgres.Field("campaign_id", made|inRecord, func(r *row) **string { return &r.record.CampaignId }).Cast("::uuid", ""),
	postgres.EnumField("status", made|changed|erased|inRecord, func(r *row) *linksv1.PersonalLinkStatus { return &r.record.Status }),
	postgres.Field("claim_url_sealed", made|erased|inRecord, func(r *row) *[]byte { return &r.url }),
	postgres.Field("order_id", changed|inRecord, func(r *row) **string { return &r.record.OrderId }),
	postgres.TimeField("created_at", made|inRecord, func(r *row) **timestamppb.Timestamp { return &r.record.CreatedAt }),
	postgres.TimeField("approved_at", changed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.record.ApprovedAt }),
	postgres.TimeField("claimed_at", changed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.record.ClaimedAt }),
	postgres.TimeField("cancelled_at", changed|erased|inRecord, func(r *row) **timestamppb.Timestamp { return &r.record.CancelledAt }),
	postgres.TimeField("updated_at", made|changed|erased|inRecord,
		func(r *row) **timestamppb.Timestamp { return &r.record.UpdatedAt }),

	postgres.Field("tenant_id", made|inLink, func(r *row) *string { return &r.TenantID }).Cast("::uuid", ""),
	postgres.Field("batch_id", made|inLink, func(r *row) *string { return &r.BatchID }).Cast("::uuid", ""),
	postgres.Field("batch_index", made|inLink, func(r *row) *int32 { return &r.BatchIndex }),
	postgres.Field("locale", made|inLink, func(r *row) *string { return &r.Locale }),
	postgres.Field("manager_id", made|inLink, func(r *row) **string { return &r.ManagerID }).Cast("::uuid", ""),
	postgres.Field("token_hash", made|erased, func(r *row) *[]byte { return &r.tokenHash }),
	postgres.Field("details_sealed", made|erased|inLink, func(r *row) *[]byte { return &r.details }),
	postgres.Field("reason_sealed", changed|erased|inLink, func(r *row) *[]byte { return &r.reason }),
	postgres.Field("claim_order_id", changed|inLink, func(r *row) **string { return &r.ClaimOrderID }),
	postgres.Field("coalesce("+claimLeaseEnded+", false)", inLink, func(r *row) *bool { return &r.ClaimExpired }),
	postgres.Field("(SELECT product_ids FROM link_batches b WHERE b.tenant_id = l.tenant_id AND b.id = l.batch_id)", withOne,
		func(r *row) *[]string { return &r.ProductIDs }),
}

var (
	madeColumns, changedColumns, erasedColumns = columns.For(made), columns.For(changed), columns.For(erased)
	recordColumns                              = columns.For(inRecord)
	listedColumns, linkColumns                 = columns.For(inRecord | inLink), columns.For(inRecord | inLink | withOne)
)

func (s *Store) scanRecord(from pgx.CollectableRow) (*linksv1.PersonalLink, error) {
	r, err := s.scan(from, recordColumns)
	return r.record, err
}

func (s *Store) scanLink(from pgx.CollectableRow) (*rules.Link, error) {
	return s.scanLinkOf(from, linkColumns)
}

// scanListed scans a link of a list.
func (s *Store) scanListed(from pgx.CollectableRow) (*rules.Link, error) {
	return s.scanLinkOf(from, listedColumns)
}

func (s *Store) scanLinkOf(from pgx.CollectableRow, of postgres.Columns[row]) (*rules.Link, error) {
	r, err := s.scan(from, of)
	if err != nil {
		return nil, err
	}
	if r.details != nil {
		plain, err := s.ring.Open(r.details, ofDetails(r.record.GetId()))
		if err == nil {
			err = json.Unmarshal(plain, &r.Details)
		}
		if err != nil {
			return nil, fmt.Errorf("details of link %s: %w", r.record.GetId(), err)
		}
	}
	if r.reason != nil {
		plain, err := s.ring.Open(r.reason, ofReason(r.record.GetId()))
		if err != nil {
			return nil, fmt.Errorf("reason of link %s: %w", r.record.GetId(), err)
		}
		r.Reason = new(string(plain))
	}
	return r.Link, nil
}

func (s *Store) scan(from pgx.CollectableRow, of postgres.Columns[row]) (*row, error) {
	record := &linksv1.PersonalLink{}
	r := &row{Link: &rules.Link{Record: record}, record: record}
	if err := from.Scan(of.Targets(r)...); err != nil {
		return r, err
	}
	plain, err := s.ring.Open(r.url, ofURL(record.GetId()))
	if err != nil {
		return r, fmt.Errorf("claim url of link %s: %w", record.GetId(), err)
	}
	record.ClaimUrl = string(plain)
	if record.CampaignId == nil {
		record.Selection = linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG.Enum()
	}
	return r, nil
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
