package relay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/kafka"
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
		value, err := proto.Marshal(r.change)
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", r.change.GetEventId(), err)
		}
		m := kafka.Message{Key: []byte(r.change.GetTenantId()), Value: value}
		out[i] = kafka.WithTraceParent(m, r.change.GetTraceparent())
	}
	return out, nil
}
