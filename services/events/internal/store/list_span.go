package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Span selects events by the time when they were recorded.
type Span struct {
	From, Before time.Time
	// TenantID is empty for all tenants.
	TenantID string
}

// SpanPosition is a place in the events of a span: they are sorted by day, tenant and position.
type SpanPosition struct {
	Day      time.Time
	TenantID string
	Number   int64
}

// The inner query reads a bounded number of rows of one day in the order of the primary key.
const (
	scanSpanOf = `SELECT tenant_id, position, recorded, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at,
  CASE WHEN recorded THEN data END
FROM (
  SELECT tenant_id, position, recorded_at >= $4 AND recorded_at < $5 AS recorded,
    event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data
  FROM feed
  WHERE day = $1 AND `
	spanOfAll    = `(tenant_id, position) > ($2, $3)`
	spanOfTenant = `tenant_id = $2 AND position > $3`
	spanLimit    = `
  ORDER BY tenant_id, position
  LIMIT $6
) scanned
ORDER BY tenant_id, position`
)

// beforeTenants sorts before the id of every tenant.
const beforeTenants = "00000000-0000-0000-0000-000000000000"

// ScanSpan reads up to limit events after a position, of which it returns those of the span, and the position after them. The
// zero position is before the first event. done means that no more follow.
func (s *Store) ScanSpan(ctx context.Context, span Span, after SpanPosition, limit int) (
	changes []*eventsv1.Change, next SpanPosition, done bool, err error,
) {
	days, err := s.listDays(ctx)
	if err != nil {
		return nil, after, false, err
	}
	// Clocks differ, so an event may have been inserted on the day before it was recorded.
	begin := SpanPosition{Day: Day(span.From).AddDate(0, 0, -1), TenantID: cmp.Or(span.TenantID, beforeTenants)}
	if after.Day.Before(begin.Day) {
		after = begin
	}
	for _, day := range days {
		if day.Before(after.Day) {
			continue
		}
		if day.After(after.Day) {
			after = begin
			after.Day = day
		}
		changes, read, err := s.scanDay(ctx, span, &after, limit)
		if err != nil || read > 0 {
			return changes, after, false, err
		}
	}
	return nil, after, true, nil
}

// scanDay moves the position past what it has read.
func (s *Store) scanDay(
	ctx context.Context, span Span, after *SpanPosition, limit int,
) (changes []*eventsv1.Change, read int, err error) {
	where := spanOfAll
	if span.TenantID != "" {
		where = spanOfTenant
	}
	rows, err := s.pool.Query(ctx, scanSpanOf+where+spanLimit, after.Day, after.TenantID, after.Number, span.From, span.Before, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("scan span of feed: %w", err)
	}
	var (
		c                      eventsv1.Change
		inSpan                 bool
		occurredAt, recordedAt time.Time
	)
	_, err = pgx.ForEachRow(rows, []any{
		&after.TenantID, &after.Number, &inSpan, &c.EventId, &c.Type, &c.BrandId, &c.SubjectId, &c.OriginKeyId,
		&occurredAt, &recordedAt, &c.Data,
	}, func() error {
		if read++; inSpan {
			changes = append(changes, &eventsv1.Change{
				EventId: c.GetEventId(), Type: c.GetType(), TenantId: after.TenantID, BrandId: c.GetBrandId(), SubjectId: c.GetSubjectId(),
				OriginKeyId: c.GetOriginKeyId(), OccurredAt: timestamppb.New(occurredAt), RecordedAt: timestamppb.New(recordedAt),
				Data: c.GetData(),
			})
		}
		return nil
	})
	if err != nil {
		return nil, read, fmt.Errorf("scan span of feed: %w", err)
	}
	return changes, read, nil
}
