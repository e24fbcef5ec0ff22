package seal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// limits of the check's statements. A key that few rows have is found by the index of a column, whatever the statistics say.
	limits = `SET LOCAL statement_timeout = %d; SET LOCAL enable_seqscan = off`

	// maxKeys bounds the list if a column holds what was never sealed.
	maxKeys = 100
	// listKeys jumps from one key to the next by the index, so that its work does not depend on the number of rows.
	listKeys = `WITH RECURSIVE used (key) AS (
  (SELECT %[2]s FROM %[1]s WHERE %[3]s AND %[2]s IS NOT NULL ORDER BY 1 LIMIT 1)
  UNION ALL
  SELECT (SELECT %[2]s FROM %[1]s WHERE %[3]s AND %[2]s > used.key ORDER BY 1 LIMIT 1)
  FROM used WHERE used.key IS NOT NULL
) SELECT key FROM used WHERE key IS NOT NULL LIMIT $1`

	// samples is how many values of a key are opened: one that was changed in the database says nothing about the key.
	samples    = 20
	readValues = `SELECT %[4]s FROM %[1]s WHERE %[3]s AND %[2]s = $1 LIMIT $2`
)

func (v SealedValues) sql(format string) string {
	return fmt.Sprintf(format, v.Table, v.Key, v.Where, v.Read)
}

// keyUse is a key that a column has values of.
type keyUse struct{ column, keyID string }

// checkResult is what a check has found.
type checkResult struct {
	uses []keyUse
	// unusable lists the keys that the ring cannot use.
	unusable []unusableKeyError
	// complete means that the check has looked at all columns.
	complete bool
}

// findKeys lists the keys that the database needs, with this limit for each statement. It returns what it found also with an error
// about one of the columns.
func findKeys(ctx context.Context, pool *pgxpool.Pool, limit time.Duration, rings ...CheckedRing) (all checkResult, err error) {
	var failures []error
	for _, ring := range rings {
		for _, values := range ring.values {
			if err := findInColumn(ctx, pool, limit, ring, values, &all); err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", values.Name(), err))
			}
		}
	}
	return all, errors.Join(failures...)
}

// findInColumn adds the keys of a column, each in a transaction of its own: a column that cannot be read says nothing about the
// others.
func findInColumn(
	ctx context.Context, pool *pgxpool.Pool, limit time.Duration, ring CheckedRing, values SealedValues, all *checkResult,
) error {
	return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(limits, limit.Milliseconds())); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, values.sql(listKeys), maxKeys)
		if err != nil {
			return err
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return err
		}
		for _, key := range keys {
			at := keyUse{column: values.Name(), keyID: keyID(key)}
			all.uses = append(all.uses, at)
			reason, err := tryKey(ctx, tx, ring, values, key)
			if err != nil {
				return err
			}
			if reason != nil {
				all.unusable = append(all.unusable, unusableKeyError{keyUse: at, setting: ring.setting, reason: reason})
			}
		}
		return nil
	})
}

// tryKey opens values of a key until one opens, and returns why none of them does.
func tryKey(ctx context.Context, tx pgx.Tx, ring CheckedRing, values SealedValues, key []byte) (reason, err error) {
	rows, err := tx.Query(ctx, values.sql(readValues), key, samples)
	if err != nil {
		return nil, err
	}
	sample, err := pgx.CollectRows(rows, values.Scan)
	if err != nil {
		return nil, err
	}
	for _, value := range sample {
		switch err := value(ctx, tx, ring.keys); {
		case err == nil:
			return nil, nil
		case errors.Is(err, ErrNoKey):
			return ErrKeyMissing, nil // No other value of the key opens either.
		case errors.Is(err, ErrBroken):
			reason = ErrKeyWrong
		default:
			return nil, err
		}
	}
	return reason, nil
}
