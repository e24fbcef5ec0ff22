package store

import (
	"context"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const selectUpdatedAt = `SELECT updated_at FROM products WHERE id = $1`

// ChangeProduct changes one side of a gift and returns its updated_at. change replaces fields of the gift
// without changing their old values. check, if not nil, refuses references to unknown records.
func (s *Store) ChangeProduct(
	ctx context.Context, act Act, change func(*rules.Product), check func(rules.Known) error,
) (time.Time, error) {
	var updatedAt time.Time
	err := s.change(ctx, func(tx pgx.Tx) error {
		found, err := readGifts(ctx, tx, []string{act.Subject})
		if err != nil {
			return err
		}
		before, ok := found[act.Subject]
		if !ok {
			return problem.RecordNotFound()
		}
		after := before
		change(&after)
		if reflect.DeepEqual(before, after) {
			return tx.QueryRow(ctx, selectUpdatedAt, act.Subject).Scan(&updatedAt)
		}
		known, err := readKnown(ctx, tx, after)
		if err != nil {
			return err
		}
		if check != nil {
			if err := check(known); err != nil {
				return err
			}
		}
		if updatedAt, err = replaceProduct(ctx, tx, before, after, known); err != nil {
			return err
		}
		return act.record(ctx, tx)
	})
	return updatedAt, err
}

// replaceProduct replaces a gift and suspends the offerings that no longer fit.
func replaceProduct(ctx context.Context, tx pgx.Tx, before, after rules.Product, known rules.Known) (time.Time, error) {
	updatedAt, err := writeProduct(ctx, tx, after, !before.SameForReaders(after, known.Regions))
	if err != nil {
		return time.Time{}, err
	}
	return updatedAt, suspendOfferings(ctx, tx, before, after)
}
