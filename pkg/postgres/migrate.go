package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	_ "github.com/jackc/pgx/v5/stdlib" // The driver goose runs on.
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrations is the schema of one owner: a service, or a package whose tables several services
// need. Each owner numbers its files for itself.
type Migrations struct {
	// Owner names the table that remembers which files ran: migrations_<owner>.
	Owner string
	// Files holds the SQL files at its root.
	Files fs.FS
}

// Embedded is the schema in the folder migrations of an embedded file system.
func Embedded(owner string, files embed.FS) Migrations {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // The folder is embedded; only a broken build gets here.
	}
	return Migrations{Owner: owner, Files: sub}
}

// Migrate brings the database up to date, owner by owner in the order given. Several instances may
// call it at once: an advisory lock lets one run.
//
// Code runs before and after each migration: a migration never removes what the version before
// still uses. The rule in full, and what holds all migrations to it, is package deploy/migrations.
func Migrate(ctx context.Context, url string, owners ...Migrations) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { _ = db.Close() }()
	for _, m := range owners {
		if err := m.up(ctx, db); err != nil {
			return fmt.Errorf("migrate %s: %w", m.Owner, err)
		}
	}
	return nil
}

func (m Migrations) table() string { return "migrations_" + m.Owner }

func (m Migrations) up(ctx context.Context, db *sql.DB) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, m.Files,
		goose.WithSessionLocker(locker), goose.WithTableName(m.table()))
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	_, err = provider.Up(ctx)
	return err
}
