package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// A database that goes back to an earlier state hands out versions of tenants and ids of API keys again. Copies elsewhere would
// then seem newer than the tenant, and a new key would own what is stored for a lost one. So both skip to the current time:
// versions to its microseconds, ids to its seconds. If the clock is behind, they skip by a little. Several restores of one backup
// then hand out different ones. Ids skip by at most ten years, so that a wrong clock does not use them up. A version in Redis that
// is far ahead of the time is wrong.
const (
	skipVersions = `UPDATE tenants SET version = greatest(version + 1000000, ` + clock + `)`
	passVersions = `UPDATE tenants t SET version = seen.version + 1
  FROM unnest($1::uuid[], $2::bigint[]) AS seen (id, version)
 WHERE t.id = seen.id AND t.version <= seen.version`

	skipKeys = `SELECT setval('api_keys_id_seq', least(2147483647, greatest(last_value + 1000,
  least(extract(epoch FROM now() - timestamptz '2026-01-01 00:00Z')::bigint, last_value + 315000000)))) FROM api_keys_id_seq`

	// clock is the time in microseconds.
	clock = `(extract(epoch FROM now()) * 1000000)::bigint`
	// maxAhead is how far ahead of the time a version may be: by the changes since a skip, and by the difference of clocks.
	maxAhead = `1000000000000`
)

const (
	lockServer = `SELECT identity, started, ` + postgres.ServerIdentity + `, ` + postgres.ServerStart + `
  FROM database_server FOR UPDATE`
	sameServer = `SELECT identity = ` + postgres.ServerIdentity + ` AND started = ` + postgres.ServerStart + ` FROM database_server`
	saveServer = `UPDATE database_server SET identity = $1, started = $2`

	// A tenant may have changed since its version was compared with the one that was seen.
	anyBehind = `SELECT coalesce(bool_or(t.version < seen.version), false)
  FROM tenants t JOIN unnest($1::uuid[], $2::bigint[]) AS seen (id, version) USING (id)`
	selectImpossible = `SELECT t.id::text, t.version
  FROM tenants t JOIN unnest($1::uuid[], $2::bigint[]) AS seen (id, version) USING (id)
 WHERE seen.version > greatest(t.version, ` + clock + `) + ` + maxAhead + ` ORDER BY t.id`
)

// Skip is why versions and ids skipped what may have been handed out.
type Skip string

// The reasons. After a restart nothing need be lost: only the disk of a server that was stopped can be set back.
const (
	NotSkipped    Skip = ""
	SkipRestarted Skip = "restarted"
	SkipRestored  Skip = "restored"
	SkipBehind    Skip = "behind"
)

// TenantVersion is a version that a tenant has reached.
type TenantVersion struct {
	TenantID string
	Version  int64
}

// SkipAfterRestore skips versions and ids if the database may have gone back: its server has another identity or start than before,
// or one of the tenants has not reached a version that was seen elsewhere.
func (s *Store) SkipAfterRestore(ctx context.Context, seen []TenantVersion) (why Skip, err error) {
	tenants := postgres.UUIDColumn(seen, func(v TenantVersion) string { return v.TenantID })
	versions := postgres.Column(seen, func(v TenantVersion) int64 { return v.Version })
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var identity, started, identityNow, startedNow string
		var behind bool
		if err := tx.QueryRow(ctx, lockServer).Scan(&identity, &started, &identityNow, &startedNow); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, anyBehind, tenants, versions).Scan(&behind); err != nil {
			return err
		}
		switch {
		case behind:
			why = SkipBehind
		case identity != identityNow && identity != "":
			why = SkipRestored
		case started != startedNow && started != "":
			why = SkipRestarted
		case identity == identityNow && started == startedNow:
			why = NotSkipped
			return nil
		default:
			why = NotSkipped // There is nothing to compare with yet.
		}
		if _, err := tx.Exec(ctx, saveServer, identityNow, startedNow); err != nil || why == NotSkipped {
			return err
		}
		if _, err := tx.Exec(ctx, skipVersions); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, passVersions, tenants, versions); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, skipKeys)
		return err
	})
	if err != nil {
		return NotSkipped, fmt.Errorf("skip what may have been handed out: %w", err)
	}
	return why, nil
}

// ImpossibleVersions returns the versions of those tenants for which a version was seen that cannot have been handed out.
func (s *Store) ImpossibleVersions(ctx context.Context, seen []TenantVersion) ([]TenantVersion, error) {
	return postgres.Select(ctx, s.pool, "check versions", pgx.RowToStructByPos[TenantVersion], selectImpossible,
		postgres.UUIDColumn(seen, func(v TenantVersion) string { return v.TenantID }),
		postgres.Column(seen, func(v TenantVersion) int64 { return v.Version }))
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
		why, err := s.SkipAfterRestore(ctx, nil)
		if err != nil {
			return err
		}
		if why != NotSkipped && s.OnSkip != nil {
			s.OnSkip(ctx, why)
		}
	}
}

// Version returns the version of a tenant.
func (s *Store) Version(ctx context.Context, tenantID string) (version int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT version FROM tenants WHERE id = $1`, tenantID).Scan(&version)
	return version, translate(err)
}

const listVersions = `SELECT id::text, version FROM tenants WHERE id > $1 ORDER BY id LIMIT $2`

// Versions returns the versions of tenants after an id, in the order of ids. The first page begins after the zero UUID.
func (s *Store) Versions(ctx context.Context, after string, limit int) ([]TenantVersion, error) {
	return postgres.Select(ctx, s.pool, "list versions", pgx.RowToStructByPos[TenantVersion], listVersions, after, limit)
}
