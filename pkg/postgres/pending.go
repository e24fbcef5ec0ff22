package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// Pending lists the migrations that have not run, as owner/file, and changes nothing. Those that a
// later version of the code has brought do not matter: this one runs on them too.
func Pending(ctx context.Context, url string, owners ...Migrations) ([]string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("reach database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // Nothing depends on it any more.
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

// applied reads the table that goose keeps. It is made by the first migration.
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
