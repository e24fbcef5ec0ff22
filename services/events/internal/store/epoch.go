package store

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	sameServer = `SELECT server = ` + postgres.ServerStart + ` FROM feed_epochs ORDER BY number DESC LIMIT 1`

	// The lock waits for the appends in flight and keeps others out: their positions become visible in the epoch in which they
	// were taken.
	lockWriters = `LOCK TABLE feed_writers IN EXCLUSIVE MODE`

	insertEpoch = `INSERT INTO feed_epochs (number, id, survived, server, reason)
SELECT e.number + 1, $1, p.last_value - CASE WHEN p.is_called THEN 0 ELSE 1 END, ` + postgres.ServerStart + `, $2
  FROM feed_position p, (SELECT number, server FROM feed_epochs ORDER BY number DESC LIMIT 1) e
 WHERE $3 OR e.server <> ` + postgres.ServerStart

	// otherServer is the reason of an epoch that begins because postgres.ServerStart has changed.
	otherServer = "another server, timeline or start"
)

// CheckServer is an option of the feed's pool: each new connection is checked before it is used. If the server is another one
// than before, or was restored, promoted or restarted, an epoch begins: while it did not run, its volume may have been set back.
// So a position is never given to a second event within an epoch.
func CheckServer(pc *pgxpool.Config) {
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		var same bool
		if err := conn.QueryRow(ctx, sameServer).Scan(&same); err != nil || same {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return insertNextEpoch(ctx, tx, otherServer, false) })
	}
}

// beginEpoch begins an epoch although the server is the one of the last epoch: its data was set back.
func (s *Store) beginEpoch(ctx context.Context, reason string) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error { return insertNextEpoch(ctx, tx, reason, true) })
	if err != nil {
		return fmt.Errorf("begin epoch: %w", err)
	}
	return nil
}

// insertNextEpoch begins an epoch if the server is another one than before, or with force.
func insertNextEpoch(ctx context.Context, tx pgx.Tx, reason string, force bool) error {
	if _, err := tx.Exec(ctx, lockWriters); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, insertEpoch, int64(1+rand.Uint32N(1<<32-1)), reason, force) //nolint:gosec // A name, not a secret.
	return err
}

const selectEpoch = `SELECT number FROM feed_epochs ORDER BY number DESC LIMIT 1`

// Epoch returns the number of the current epoch.
func (s *Store) Epoch(ctx context.Context) (number int64, err error) {
	if err := s.pool.QueryRow(ctx, selectEpoch).Scan(&number); err != nil {
		return 0, fmt.Errorf("read epoch: %w", err)
	}
	return number, nil
}
