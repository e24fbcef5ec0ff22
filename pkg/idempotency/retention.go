package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	retentionEvery = time.Hour
	retentionBatch = 5000
)

const deleteOld = `DELETE FROM idempotency_answers WHERE (key_id, idempotency_key) IN (
  SELECT key_id, idempotency_key FROM idempotency_answers WHERE created_at < now() - $1::interval
  ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

// Retention is the part that deletes answers once they have been kept long enough. Several instances share the work.
func Retention(pool *pgxpool.Pool, clock *daemon.RetentionClock, cfg Config, tel *telemetry.Telemetry) daemon.Part {
	return clock.Every("idempotency", retentionEvery, tel, func(ctx context.Context, lag time.Duration) error {
		return DeleteOld(ctx, pool, cfg.Retention+lag)
	})
}

// DeleteOld deletes the answers older than keep. Only the database's clock counts, so an instance with a wrong clock deletes
// nothing too early.
func DeleteOld(ctx context.Context, pool *pgxpool.Pool, keep time.Duration) error {
	return daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (int, error) {
		tag, err := pool.Exec(ctx, deleteOld, keep, limit)
		if err != nil {
			return 0, fmt.Errorf("delete old answers: %w", err)
		}
		return int(tag.RowsAffected()), nil
	})
}

// Config of a service that stores answers.
type Config struct {
	Retention time.Duration `env:"IDEMPOTENCY_RETENTION" envDefault:"720h" check:"min=24h" doc:"How long the response to a POST is stored."`
}
