package ringcheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/pkg/seal"
)

const (
	// limits of the check's statements. A key that few rows have is found by the index of a column, whatever the statistics say.
	limits = `SET LOCAL statement_timeout = '5s'; SET LOCAL enable_seqscan = off`

	// keyOf is the beginning of a sealed value that names its key. The index of a column has the same expression. A value is empty
	// once it is erased.
	keyOf = `CASE WHEN length(%[2]s) > 0 THEN substring(%[2]s FOR get_byte(%[2]s, 0) + 1) END`

	// maxKeys bounds the list if a column holds what was never sealed.
	maxKeys = 100
	// listKeys jumps from one key to the next by the index, so that its work does not depend on the number of rows.
	listKeys = `WITH RECURSIVE used (key) AS (
  (SELECT ` + keyOf + ` FROM %[1]s WHERE %[2]s IS NOT NULL AND ` + keyOf + ` IS NOT NULL ORDER BY 1 LIMIT 1)
  UNION ALL
  SELECT (SELECT ` + keyOf + ` FROM %[1]s WHERE %[2]s IS NOT NULL AND ` + keyOf + ` > used.key ORDER BY 1 LIMIT 1)
  FROM used WHERE used.key IS NOT NULL
) SELECT key FROM used WHERE key IS NOT NULL LIMIT $1`

	// samples is how many values of a key are opened: one that was changed in the database says nothing about the key.
	samples    = 20
	readValues = `SELECT id::text, %[2]s FROM %[1]s WHERE %[2]s IS NOT NULL AND ` + keyOf + ` = $1 LIMIT $2`
)

// find lists the keys that the database needs and the ring cannot use.
func (c *Check) find(ctx context.Context) (unusable []problem, err error) {
	err = pgx.BeginTxFunc(ctx, c.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, limits); err != nil {
			return err
		}
		for _, table := range c.tables {
			for _, column := range table.Columns {
				found, err := c.inColumn(ctx, tx, table.Name, column)
				if err != nil {
					return fmt.Errorf("%s.%s: %w", table.Name, column.Name, err)
				}
				unusable = append(unusable, found...)
			}
		}
		return nil
	})
	return unusable, err
}

func (c *Check) inColumn(ctx context.Context, tx pgx.Tx, table string, column reencrypt.Column) (unusable []problem, err error) {
	rows, err := tx.Query(ctx, fmt.Sprintf(listKeys, table, column.Name), maxKeys)
	if err != nil {
		return nil, err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		reason, err := c.try(ctx, tx, table, column, key)
		if err != nil {
			return nil, err
		}
		if reason != nil {
			unusable = append(unusable, problem{column: table + "." + column.Name, keyID: string(key[1:]), reason: reason})
		}
	}
	return unusable, nil
}

// try opens values of a key and returns why none of them opens.
func (c *Check) try(ctx context.Context, tx pgx.Tx, table string, column reencrypt.Column, key []byte) (reason, err error) {
	rows, err := tx.Query(ctx, fmt.Sprintf(readValues, table, column.Name), key, samples)
	if err != nil {
		return nil, err
	}
	var id string
	var value []byte
	var opens bool
	_, err = pgx.ForEachRow(rows, []any{&id, &value}, func() error {
		switch err := c.ring.Check(value, column.AssociatedData(id)); {
		case err == nil:
			opens = true
		case errors.Is(err, seal.ErrNoKey):
			reason = ErrMissing
		default:
			reason = ErrWrong
		}
		return nil
	})
	if opens {
		reason = nil
	}
	return reason, err
}
