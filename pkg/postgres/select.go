package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Select returns all rows of a statement. An error begins with what was done, such as "list orders".
func Select[T any](ctx context.Context, db Querier, what string, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := db.Query(ctx, sql, args...) // Its error is that of the rows.
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return found, nil
}

// SelectOne returns the only row of a statement, or the error missing if there is none.
func SelectOne[T any](
	ctx context.Context, db Querier, what string, missing error, scan pgx.RowToFunc[T], sql string, args ...any,
) (found T, err error) {
	all, err := Select(ctx, db, what, scan, sql, args...)
	switch {
	case err != nil:
		return found, err
	case len(all) == 0:
		return found, missing
	case len(all) > 1:
		return found, fmt.Errorf("%s: %w", what, pgx.ErrTooManyRows)
	}
	return all[0], nil
}

// QueueSelect adds a statement to a batch and sets into to its rows.
func QueueSelect[T any](b *pgx.Batch, into *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	})
}

// QueueSelectFirst adds a statement to a batch and sets into to its first row, or to the zero value if there is none.
func QueueSelectFirst[T any](b *pgx.Batch, into *T, scan pgx.RowToFunc[T], sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		*into = *new(T)
		if len(found) > 0 {
			*into = found[0]
		}
		return err
	})
}

// Exec executes a statement and returns how many rows it changed. An error begins with what was done.
func Exec(ctx context.Context, db Querier, what, sql string, args ...any) (int, error) {
	tag, err := db.Exec(ctx, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return int(tag.RowsAffected()), nil
}
