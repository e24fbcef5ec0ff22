package idempotency

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// DefaultRetention is how long an answer is kept: integrators are told so.
const DefaultRetention = 30 * 24 * time.Hour

const (
	retentionEvery = time.Hour
	retentionBatch = 5000
)

const deleteOld = `DELETE FROM idempotency_answers WHERE (key_id, idempotency_key) IN (
  SELECT key_id, idempotency_key FROM idempotency_answers WHERE created_at < now() - $1::interval
  ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

// Retention deletes answers that are older than they are kept for.
type Retention struct {
	Pool *pgxpool.Pool
	// Keep zero: DefaultRetention.
	Keep time.Duration
	Log  *slog.Logger
}

// Run deletes once an hour until ctx ends. Several instances share the work.
func (r *Retention) Run(ctx context.Context) error {
	tick := time.NewTicker(retentionEvery)
	defer tick.Stop()
	for {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "delete old idempotency answers", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep deletes what is old by the database's clock, which also dated the answers: an instance with
// a wrong clock deletes nothing too early. Its batches hold no lock for long.
func (r *Retention) Sweep(ctx context.Context) error {
	keep := r.Keep
	if keep <= 0 {
		keep = DefaultRetention
	}
	for {
		tag, err := r.Pool.Exec(ctx, deleteOld, keep, retentionBatch)
		if err != nil {
			return fmt.Errorf("delete old answers: %w", err)
		}
		if tag.RowsAffected() < retentionBatch {
			return nil
		}
	}
}
