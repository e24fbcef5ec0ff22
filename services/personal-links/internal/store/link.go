package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const statusPrefix = "PERSONAL_LINK_STATUS_"

func statusColumn(s linksv1.PersonalLinkStatus) string {
	return strings.TrimPrefix(s.String(), statusPrefix)
}

// scanLink reads a row of selectLinks and opens its claim URL.
func (s *Store) scanLink(row pgx.CollectableRow) (*linksv1.PersonalLink, error) {
	l := &linksv1.PersonalLink{}
	var status string
	var sealed []byte
	var created, updated time.Time
	var approved, claimed, cancelled *time.Time
	err := row.Scan(&l.Id, &l.ExternalRecipientId, &l.BrandId, &l.CampaignId, &status, &sealed, &l.OrderId,
		&created, &approved, &claimed, &cancelled, &updated)
	if err != nil {
		return nil, err
	}
	url, err := s.ring.Open(sealed, l.GetId())
	if err != nil {
		return nil, fmt.Errorf("claim url of link %s: %w", l.GetId(), err)
	}
	l.ClaimUrl = string(url)
	l.Status = linksv1.PersonalLinkStatus(linksv1.PersonalLinkStatus_value[statusPrefix+status])
	if l.CampaignId == nil {
		l.Selection = linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG.Enum()
	}
	l.CreatedAt, l.UpdatedAt = timestamppb.New(created), timestamppb.New(updated)
	l.ApprovedAt, l.ClaimedAt, l.CancelledAt = instant(approved), instant(claimed), instant(cancelled)
	return l, nil
}

func instant(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}
