package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// A database that goes back to an earlier state hands out versions of tenants and ids of API keys again. Copies elsewhere would
// then seem newer than the tenant, and a new key would own what is stored for a lost one, such as answers to its requests. So
// both skip ahead: by more than can have been lost, and by little compared with the range of their types.
const (
	skippedVersions = 1_000_000
	skippedKeys     = 100_000
)

const (
	lockServer = `SELECT identity, ` + postgres.ServerIdentity + ` FROM database_server FOR UPDATE`
	sameServer = `SELECT identity = ` + postgres.ServerIdentity + ` FROM database_server`
	noteServer = `UPDATE database_server SET identity = $1`

	skipVersions = `UPDATE tenants SET version = version + $1`
	skipKeys     = `SELECT setval('api_keys_id_seq', last_value + $1) FROM api_keys_id_seq`

	anyBehind = `SELECT EXISTS (
  SELECT FROM tenants t JOIN unnest($1::uuid[], $2::bigint[]) AS seen (id, version) USING (id) WHERE t.version < seen.version)`
)

// TenantVersion is a version that a tenant has reached.
type TenantVersion struct {
	TenantID string
	Version  int64
}

// SkipAfterRestore skips versions and ids if the database has gone back: its server says something else of itself than before, or
// one of the tenants has not reached a version that was seen elsewhere. It reports whether it did.
func (s *Store) SkipAfterRestore(ctx context.Context, seen []TenantVersion) (skipped bool, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		skipped = false
		var before, now string
		if err := tx.QueryRow(ctx, lockServer).Scan(&before, &now); err != nil {
			return err
		}
		var behind bool
		err := tx.QueryRow(ctx, anyBehind, postgres.UUIDColumn(seen, func(v TenantVersion) string { return v.TenantID }),
			postgres.Column(seen, func(v TenantVersion) int64 { return v.Version })).Scan(&behind)
		if err != nil {
			return err
		}
		if before == now && !behind {
			return nil
		}
		if _, err := tx.Exec(ctx, noteServer, now); err != nil {
			return err
		}
		if skipped = behind || before != ""; !skipped {
			return nil // The first look.
		}
		if _, err := tx.Exec(ctx, skipVersions, skippedVersions); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, skipKeys, skippedKeys)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("skip what may have been handed out: %w", err)
	}
	return skipped, nil
}

// errOtherServer stops a change on a server that is not the one of the last change.
var errOtherServer = errors.New("the database server is another one, or was restored")

// inTx runs a change in a transaction. After a restore, the first change skips before it takes a version or an id. The skip has
// a transaction of its own, so that a change that is refused does not undo it.
func (s *Store) inTx(ctx context.Context, work func(tx pgx.Tx) error) error {
	for {
		err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
			var same bool
			if err := tx.QueryRow(ctx, sameServer).Scan(&same); err != nil {
				return fmt.Errorf("compare the server: %w", err)
			}
			if !same {
				return errOtherServer
			}
			return work(tx)
		})
		if !errors.Is(err, errOtherServer) {
			return err
		}
		skipped, err := s.SkipAfterRestore(ctx, nil)
		if err != nil {
			return err
		}
		if skipped && s.OnSkip != nil {
			s.OnSkip(ctx)
		}
	}
}

const listVersions = `SELECT id::text, version FROM tenants WHERE id > $1 ORDER BY id LIMIT $2`

// Versions returns the versions of tenants after an id, in the order of ids. The first page begins after the zero UUID.
func (s *Store) Versions(ctx context.Context, after string, limit int) ([]TenantVersion, error) {
	rows, err := s.pool.Query(ctx, listVersions, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[TenantVersion])
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return list, nil
}
