package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Measure tells of the pool's connections under the name.
func Measure(pool *pgxpool.Pool, name string, tel *telemetry.Telemetry) error {
	err := telemetry.Pool(tel.Meters, "postgresql", name, func(context.Context) telemetry.PoolState {
		s := pool.Stat()
		return telemetry.PoolState{
			Used: int64(s.AcquiredConns()), Idle: int64(s.IdleConns()), Max: int64(s.MaxConns()),
			Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
		}
	})
	if err != nil {
		return fmt.Errorf("metrics of the pool %s: %w", name, err)
	}
	return nil
}
