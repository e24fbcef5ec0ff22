package postgres

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

const connectTimeout = 3 * time.Second

// ConnectToLock makes a session for advisory locks. When it was idle for the given time, the server ends it and releases its locks,
// so that a host that vanished keeps none. So the caller must use it more often, and closes it. The URL must lead to the server
// without a transaction pooler.
func ConnectToLock(ctx context.Context, url string, idle time.Duration) (*pgx.Conn, error) {
	cfg, err := connConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = connectTimeout
	maps.Copy(cfg.RuntimeParams, map[string]string{
		"idle_session_timeout": strconv.FormatInt(idle.Milliseconds(), 10),
		// In seconds. They are for a session that is not idle because a statement or its result is in flight.
		"tcp_keepalives_idle":     "3",
		"tcp_keepalives_interval": "1",
		"tcp_keepalives_count":    "2",
	})
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect for advisory locks: %w", err)
	}
	return conn, nil
}
