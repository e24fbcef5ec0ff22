package relay

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// roundTimeout bounds what a round asks of the sources before and after it publishes.
const roundTimeout = 15 * time.Second

// round publishes what is due and says how many rows that were.
func (r *Relay) round(ctx context.Context) (int, error) {
	rows, err := r.due(ctx)
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
	// What was published is deleted even if the relay is told to stop now; otherwise the next leader
	// would publish it again.
	return len(rows), r.remove(context.WithoutCancel(ctx), rows)
}

// due reads the next rows in the order in which they are to be published.
func (r *Relay) due(ctx context.Context) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	now, err := r.clock(ctx)
	if err != nil {
		return nil, err
	}
	cut := now.Add(-r.cfg.ClockSkew)
	if r.withoutCut {
		cut = now.Add(time.Hour)
	}
	reads, err := r.read(ctx, cut)
	if err != nil {
		return nil, err
	}
	r.metrics.observe(now, reads)
	return merge(reads, lowerCut(cut, reads, r.cfg.BatchSize)), nil
}

// clock gives the earliest of the sources' clocks, each read before any outbox is.
func (r *Relay) clock(ctx context.Context) (time.Time, error) {
	clocks := make([]time.Time, len(r.sources))
	err := r.each(ctx, func(ctx context.Context, i int, s *source) (err error) {
		clocks[i], err = s.clock(ctx)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	earliest := clocks[0]
	for _, t := range clocks[1:] {
		if t.Before(earliest) {
			earliest = t
		}
	}
	return earliest, nil
}

func (r *Relay) read(ctx context.Context, cut time.Time) ([][]row, error) {
	reads := make([][]row, len(r.sources))
	err := r.each(ctx, func(ctx context.Context, i int, s *source) error {
		return r.aroundRead(ctx, i, func() (err error) {
			reads[i], err = s.read(ctx, i, cut, r.cfg.BatchSize)
			return err
		})
	})
	return reads, err
}

func (r *Relay) remove(ctx context.Context, rows []row) error {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	ids := make([][]int64, len(r.sources))
	for _, row := range rows {
		ids[row.source] = append(ids[row.source], row.id)
	}
	return r.each(ctx, func(ctx context.Context, i int, s *source) error {
		return s.remove(ctx, ids[i])
	})
}

// each asks all sources at the same time.
func (r *Relay) each(ctx context.Context, ask func(ctx context.Context, i int, s *source) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range r.sources {
		group.Go(func() error { return ask(ctx, i, s) })
	}
	return group.Wait()
}
