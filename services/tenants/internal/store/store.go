// Package store keeps tenants, their brands, team, custom fields and API keys in PostgreSQL.
//
// Every change locks the tenant's row first and raises the tenant's version in the same transaction. A call that changes
// nothing does not raise the version.
package store

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the tenants database.
func Migrations() postgres.Migrations {
	return postgres.Embedded("tenants", files)
}

// The reasons why the store refuses a change.
var (
	// ErrNotFound means that the record is unknown or belongs to another tenant.
	ErrNotFound   = errors.New("no such record")
	ErrSlugTaken  = errors.New("another brand of the tenant has this slug")
	ErrEmailTaken = errors.New("another team member of the tenant has this e-mail address")
	ErrTypeFixed  = errors.New("the type of a custom field cannot change")
	// ErrLastAdministrator means that the team would have no active Administrator.
	ErrLastAdministrator = errors.New("the team would have no Administrator")
)

// Store of one database.
type Store struct {
	pool *pgxpool.Pool
	// OnSkip, if set, is called after a change has run SkipAfterRestore, and versions and ids have skipped.
	OnSkip func(ctx context.Context, why Skip)
}

// Pool is the connections of the store.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// New makes the store over a migrated database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

const (
	// With NO KEY UPDATE, inserts that refer to the row do not wait.
	lockTenant = `SELECT version FROM tenants WHERE id = $1 FOR NO KEY UPDATE`
	bumpTenant = `UPDATE tenants SET version = version + 1 WHERE id = $1 RETURNING version`
)

// change locks the tenant's row, checks the actor's permission, runs work and returns the new version. The version grows only if
// work changed something.
func (s *Store) change(
	ctx context.Context, tenantID string, by Authorization, work func(tx pgx.Tx) (changed bool, err error),
) (version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		version, err = changeIn(ctx, tx, tenantID, by, work)
		return err
	})
	return version, translate(err)
}

// changeIn is change in the caller's transaction.
func changeIn(
	ctx context.Context, tx pgx.Tx, tenantID string, by Authorization, work func(tx pgx.Tx) (changed bool, err error),
) (version int64, err error) {
	if err := tx.QueryRow(ctx, lockTenant, tenantID).Scan(&version); err != nil {
		return 0, fmt.Errorf("lock tenant: %w", err)
	}
	if err := by.permit(ctx, tx, tenantID); err != nil {
		return 0, err
	}
	changed, err := work(tx)
	if err != nil || !changed {
		return version, err
	}
	if err := tx.QueryRow(ctx, bumpTenant, tenantID).Scan(&version); err != nil {
		return 0, fmt.Errorf("raise version: %w", err)
	}
	return version, nil
}

// translate turns errors of the database into those of the store.
func translate(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	constraint, ok := postgres.UniqueViolation(err)
	if !ok {
		return err
	}
	switch constraint {
	case "brands_one_tenant", "team_members_one_tenant", "custom_fields_one_tenant":
		return ErrNotFound
	case "brands_slug":
		return ErrSlugTaken
	case "team_members_email":
		return ErrEmailTaken
	default:
		return err
	}
}
