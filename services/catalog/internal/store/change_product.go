package store

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const selectUpdatedAt = `SELECT updated_at FROM products WHERE id = $1`

// ChangeProduct changes one part of a gift and returns its updated_at. change replaces fields of the gift and must not modify
// their old values. check, if not nil, refuses references to unknown records.
func (s *Store) ChangeProduct(
	ctx context.Context, act Act, change func(*rules.Product), check func(rules.References) error,
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
		if updatedAt, err = writeProduct(ctx, tx, after, !before.SameForReaders(after, known.Regions)); err != nil {
			return err
		}
		return act.record(ctx, tx)
	})
	return updatedAt, err
}

// The outcomes of importing a gift.
const (
	rejected  = catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED
	created   = catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED
	updated   = catalogv1.ImportOutcome_IMPORT_OUTCOME_UPDATED
	unchanged = catalogv1.ImportOutcome_IMPORT_OUTCOME_UNCHANGED
)

// ImportProducts puts gifts with different ids in one transaction and returns the outcomes. A gift that check refuses is
// rejected. Unchanged gifts are found without the lock for changes, so that a repeated import does not delay other changes.
func (s *Store) ImportProducts(
	ctx context.Context, products []rules.Product, check func(i int, known rules.References) bool,
) ([]catalogv1.ImportOutcome, error) {
	plan, err := s.planImport(ctx, s.pool, products, check)
	if err != nil || !plan.hasChanges() {
		return plan.outcomes, err
	}
	err = s.change(ctx, func(tx pgx.Tx) error {
		if plan, err = s.planImport(ctx, tx, products, check); err != nil {
			return err
		}
		return plan.writeGifts(ctx, tx, products)
	})
	return plan.outcomes, err
}

// importPlan holds the action of an import for each gift.
type importPlan struct {
	known    rules.References
	before   map[string]rules.Product
	outcomes []catalogv1.ImportOutcome
}

func (s *Store) planImport(
	ctx context.Context, q postgres.Querier, products []rules.Product, check func(i int, known rules.References) bool,
) (importPlan, error) {
	var referred rules.Product
	ids := make([]string, len(products))
	for i, p := range products {
		ids[i] = p.ID
		referred.Categories = append(referred.Categories, p.Categories...)
		referred.ImageFileIDs = append(referred.ImageFileIDs, p.ImageFileIDs...)
	}
	known, err := readKnown(ctx, q, referred)
	if err != nil {
		return importPlan{}, err
	}
	before, err := readGifts(ctx, q, ids)
	if err != nil {
		return importPlan{}, err
	}
	plan := importPlan{known: known, before: before, outcomes: make([]catalogv1.ImportOutcome, len(products))}
	for i, p := range products {
		old, exists := before[p.ID]
		switch {
		case !check(i, known):
			plan.outcomes[i] = rejected
		case !exists:
			plan.outcomes[i] = created
		case old.Same(p):
			plan.outcomes[i] = unchanged
		default:
			plan.outcomes[i] = updated
		}
	}
	return plan, nil
}

func (p importPlan) hasChanges() bool {
	for _, o := range p.outcomes {
		if o == created || o == updated {
			return true
		}
	}
	return false
}

// writeGifts sends all gifts in one round trip.
func (p importPlan) writeGifts(ctx context.Context, tx pgx.Tx, products []rules.Product) error {
	b := &pgx.Batch{}
	updatedAt := new(time.Time)
	for i, product := range products {
		if p.outcomes[i] != created && p.outcomes[i] != updated {
			continue
		}
		before := p.before[product.ID]
		queueProduct(b, product, !before.SameForReaders(product, p.known.Regions), updatedAt)
		if !maps.Equal(before.Prices, product.Prices) {
			queuePrices(b, product)
		}
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("write gifts: %w", err)
	}
	return nil
}
