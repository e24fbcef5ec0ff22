package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	eraseEvery = time.Hour
	eraseBatch = 1000
)

// The end of a link is its last change.
const eraseDetails = `UPDATE links SET details_sealed = NULL WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM links
  WHERE details_sealed IS NOT NULL AND status IN ('CLAIMED', 'EXPIRED', 'CANCELLED') AND updated_at < now() - $1::interval
  ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

// Retention erases the details of links that ended longer ago than they are kept for.
type Retention struct {
	Store *Store
	Keep  time.Duration
	Log   *slog.Logger
}

// Run erases once an hour until ctx ends. Several instances share the work.
func (r *Retention) Run(ctx context.Context) error {
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	for {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "erase details of ended links", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep erases what is due by the database's clock. Its batches hold no lock for long.
func (r *Retention) Sweep(ctx context.Context) error {
	for {
		tag, err := r.Store.pool.Exec(ctx, eraseDetails, r.Keep, eraseBatch)
		if err != nil {
			return fmt.Errorf("erase details: %w", err)
		}
		if tag.RowsAffected() < eraseBatch {
			return nil
		}
	}
}
