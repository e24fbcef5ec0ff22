package relay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/kafka"
)

// sourcesTimeout bounds the time that a batch waits for the sources: once before it publishes and once after.
const sourcesTimeout = 15 * time.Second

// publishBatch publishes the next rows and returns how many there were.
func (r *Relay) publishBatch(ctx context.Context) (int, error) {
	rows, err := r.nextRows(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	msgs, err := messages(rows)
	if err != nil {
		return 0, err
	}
	if err := r.publisher.Publish(ctx, msgs); err != nil {
		return 0, err
	}
	r.metrics.published.Add(ctx, int64(len(rows)))
	// The published rows are deleted even if the relay has to stop now. Otherwise the next leader would publish them again.
	return len(rows), r.remove(context.WithoutCancel(ctx), rows)
}

// nextRows reads the next rows in the order in which they are to be published.
func (r *Relay) nextRows(ctx context.Context) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, sourcesTimeout)
	defer cancel()
	now, err := r.clock(ctx)
	if err != nil {
		return nil, err
	}
	watermark := now.Add(-r.cfg.ClockSkew)
	reads, err := r.read(ctx, watermark)
	if err != nil {
		return nil, err
	}
	r.metrics.observe(now, reads)
	return merge(reads, lowerWatermark(watermark, reads, r.cfg.BatchSize)), nil
}

// clock reads the clocks of all sources and returns the earliest. It runs before any outbox is read.
func (r *Relay) clock(ctx context.Context) (time.Time, error) {
	clocks := make([]time.Time, len(r.sources))
	err := r.forEachSource(ctx, func(ctx context.Context, i int, s *source) (err error) {
		clocks[i], err = s.clock(ctx)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return slices.MinFunc(clocks, time.Time.Compare), nil
}

func (r *Relay) read(ctx context.Context, watermark time.Time) ([][]row, error) {
	reads := make([][]row, len(r.sources))
	err := r.forEachSource(ctx, func(ctx context.Context, i int, s *source) (err error) {
		reads[i], err = s.read(ctx, i, watermark, r.cfg.BatchSize)
		return err
	})
	return reads, err
}

func (r *Relay) remove(ctx context.Context, rows []row) error {
	ctx, cancel := context.WithTimeout(ctx, sourcesTimeout)
	defer cancel()
	ids := make([][]int64, len(r.sources))
	for _, row := range rows {
		ids[row.source] = append(ids[row.source], row.id)
	}
	return r.forEachSource(ctx, func(ctx context.Context, i int, s *source) error {
		return s.remove(ctx, ids[i])
	})
}

// forEachSource calls all sources concurrently.
func (r *Relay) forEachSource(ctx context.Context, call func(ctx context.Context, i int, s *source) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range r.sources {
		group.Go(func() error { return call(ctx, i, s) })
	}
	return group.Wait()
}

// lowerWatermark returns the time up to which all rows of all sources were read. A source that returned as many rows as
// requested may have more after its last one.
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

// merge returns the rows recorded up to the watermark, in the order of publishing.
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
