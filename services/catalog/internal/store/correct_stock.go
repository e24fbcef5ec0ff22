package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	// Corrections and orders of one SKU wait for each other.
	lockSKU = `SELECT s.stock FROM skus s WHERE s.tenant_id = $1 AND s.campaign_id = $2 AND s.id = $3 FOR UPDATE`

	selectCorrection = `SELECT detail FROM catalog_audit WHERE id = $1`

	setStock = `UPDATE skus SET stock = $2 WHERE id = $1`
)

// StockCorrection is a correction in the audit.
type StockCorrection struct {
	rules.Correction

	Before int32 `json:"before"`
	After  int32 `json:"after"`
}

// CorrectStock corrects the stock of a SKU in the campaign of the act and returns the new stock. The same correction with the
// same id returns the first result; another one is refused.
func (s *Store) CorrectStock(ctx context.Context, id string, act Act, c rules.Correction) (after int32, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		stock, err := lockStock(ctx, tx, act.TenantID, act.Subject, c.SKUID)
		if err != nil {
			return err
		}
		first, repeated, err := readCorrection(ctx, tx, id)
		if err != nil {
			return err
		}
		if repeated {
			if after = first.After; !reflect.DeepEqual(first.Correction, c) {
				return correctionReused()
			}
			return nil
		}
		if after, err = c.Apply(stock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, setStock, c.SKUID, after); err != nil {
			return fmt.Errorf("set stock: %w", err)
		}
		act.ID, act.Detail = id, StockCorrection{Correction: c, Before: stock, After: after}
		return act.record(ctx, tx)
	})
	if _, taken := postgres.UniqueViolation(err); taken {
		return 0, correctionReused() // A concurrent correction of another SKU has the id.
	}
	return after, err
}

func lockStock(ctx context.Context, tx pgx.Tx, tenantID, campaignID, skuID string) (int32, error) {
	var stock *int32
	err := tx.QueryRow(ctx, lockSKU, tenantID, campaignID, skuID).Scan(&stock)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, problem.RecordNotFound()
	case err != nil:
		return 0, fmt.Errorf("lock SKU: %w", err)
	case stock == nil:
		return 0, problem.Invalid(problem.Violation{
			Field: "skuId", Code: problem.FieldInvalid, Message: "names a SKU that never had finite stock",
		})
	}
	return *stock, nil
}

func readCorrection(ctx context.Context, tx pgx.Tx, id string) (c StockCorrection, found bool, err error) {
	var detail []byte
	err = tx.QueryRow(ctx, selectCorrection, id).Scan(&detail)
	if errors.Is(err, pgx.ErrNoRows) {
		return StockCorrection{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(detail, &c)
	}
	if err != nil {
		return StockCorrection{}, false, fmt.Errorf("read correction: %w", err)
	}
	return c, true, nil
}

func correctionReused() error {
	return problem.New(problem.IdempotencyKeyReused, "correctionId names another correction.")
}
