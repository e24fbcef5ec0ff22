package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // The driver that goose uses.
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrations is the schema of one owner: a service, or a package whose tables several services
// need. Each owner numbers its files for itself.
type Migrations struct {
	// Owner names the table that records which files ran: migrations_<owner>.
	Owner string
	// Files holds the SQL files at its root.
	Files fs.FS
}

// Embedded is the schema in the folder migrations of an embedded file system.
func Embedded(owner string, files embed.FS) Migrations {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // The folder is embedded, so this fails only in a broken build.
	}
	return Migrations{Owner: owner, Files: sub}
}

// Migrate brings the database up to date, owner by owner in the order given. Several instances may call it concurrently: an
// advisory lock lets one run at a time.
//
// Code of the previous version must work on the new schema: a migration never removes what that version uses. Package
// deploy/migrations states and checks the rule.
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

// Pending lists the migrations that have not run, as owner/file, and changes nothing. Migrations of a later version do not
// matter: this version works with them too.
func Pending(ctx context.Context, url string, owners ...Migrations) ([]string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("reach database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var pending []string
	for _, m := range owners {
		found, err := m.pending(ctx, conn)
		if err != nil {
			return nil, fmt.Errorf("migrations of %s: %w", m.Owner, err)
		}
		pending = append(pending, found...)
	}
	return pending, nil
}

func (m Migrations) pending(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	applied, err := m.applied(ctx, conn)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(m.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	var pending []string
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(applied, version) {
			pending = append(pending, m.Owner+"/"+file)
		}
	}
	return pending, nil
}

// applied reads goose's table of applied versions. The first migration creates it.
func (m Migrations) applied(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", m.table()).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := conn.Query(ctx, "SELECT version_id FROM "+pgx.Identifier{m.table()}.Sanitize()+" WHERE is_applied")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
