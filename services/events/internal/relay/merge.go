package relay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/kafka"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// lowerWatermark returns the time up to which all rows of all sources were read: a source that returned
// as many rows as requested may have more after its last one.
func lowerWatermark(watermark time.Time, reads [][]row, limit int) time.Time {
	for _, rows := range reads {
		if len(rows) < limit {
			continue
		}
		if last := rows[len(rows)-1].recordedAt; last.Before(watermark) {
			watermark = last
		}
	}
	return watermark
}

// merge returns the rows recorded up to the watermark in the order in which they are published.
func merge(reads [][]row, watermark time.Time) []row {
	var merged []row
	for _, rows := range reads {
		for _, r := range rows {
			if r.recordedAt.After(watermark) {
				break
			}
			merged = append(merged, r)
		}
	}
	slices.SortFunc(merged, func(a, b row) int {
		return cmp.Or(a.recordedAt.Compare(b.recordedAt), cmp.Compare(a.source, b.source), cmp.Compare(a.id, b.id))
	})
	return merged
}

// messages encodes the rows. The key is the tenant, so the events of a tenant stay in one partition, in order.
func messages(rows []row) ([]kafka.Message, error) {
	out := make([]kafka.Message, len(rows))
	for i, r := range rows {
		value, err := proto.Marshal(&eventsv1.Change{
			EventId:     r.eventID,
			Type:        r.eventType,
			TenantId:    r.tenantID,
			BrandId:     r.brandID,
			SubjectId:   r.subjectID,
			OriginKeyId: r.originKeyID,
			OccurredAt:  timestamppb.New(r.occurredAt),
			RecordedAt:  timestamppb.New(r.recordedAt),
			Data:        r.data,
			Traceparent: r.traceparent,
		})
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", r.eventID, err)
		}
		out[i] = kafka.WithTraceParent(kafka.Message{Key: []byte(r.tenantID), Value: value}, r.traceparent)
	}
	return out, nil
}
