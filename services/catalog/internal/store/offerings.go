package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	lockSKUsOf = `SELECT id FROM skus WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3 ORDER BY id FOR UPDATE`

	withdrawSKUsOf = `UPDATE skus SET offered = false WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3 AND offered`

	// A new offering comes last; an existing one keeps its position.
	upsertOffering = `INSERT INTO offerings (tenant_id, campaign_id, product_id, status, supply_type, position)
SELECT $1, $2, $3, $4, $5, coalesce(max(position) + 1, 0) FROM offerings WHERE tenant_id = $1 AND campaign_id = $2
ON CONFLICT (tenant_id, campaign_id, product_id) DO UPDATE SET status = EXCLUDED.status, supply_type = EXCLUDED.supply_type`

	countOtherOfferings = `SELECT count(*) FROM offerings WHERE tenant_id = $1 AND campaign_id = $2 AND product_id <> $3`

	deleteOffering = `DELETE FROM offerings WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3`

	selectOffering = `SELECT o.status, (SELECT coalesce(jsonb_agg(s.variations), '[]') FROM skus s
  WHERE s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id AND s.offered)
FROM offerings o WHERE o.tenant_id = $1 AND o.campaign_id = $2 AND o.product_id = $3`

	resumeOffering = `UPDATE offerings SET status = 'ACTIVE' WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3`
)

// PutOffering adds an offering or replaces the one of the same gift.
func (s *Store) PutOffering(ctx context.Context, act Act, o rules.Offering) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, _ string) (bool, error) {
		gifts, err := readGifts(ctx, tx, []string{o.ProductID})
		if err != nil {
			return false, err
		}
		var others int
		if err := tx.QueryRow(ctx, countOtherOfferings, act.TenantID, act.Subject, o.ProductID).Scan(&others); err != nil {
			return false, fmt.Errorf("count offerings: %w", err)
		}
		if err := o.CheckPut(gifts, others); err != nil {
			return false, err
		}
		b := &pgx.Batch{}
		b.Queue(lockSKUsOf, act.TenantID, act.Subject, o.ProductID)
		b.Queue(withdrawSKUsOf, act.TenantID, act.Subject, o.ProductID)
		b.Queue(upsertOffering, act.TenantID, act.Subject, o.ProductID, statusOf(gifts[o.ProductID]), o.SupplyType)
		if err := queueSKUs(b, act.TenantID, act.Subject, o); err != nil {
			return false, err
		}
		return true, tx.SendBatch(ctx, b).Close()
	})
}

// RemoveOffering stops offering a gift.
func (s *Store) RemoveOffering(ctx context.Context, productID string, act Act) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, _ string) (bool, error) {
		gone, err := tx.Exec(ctx, deleteOffering, act.TenantID, act.Subject, productID)
		if err != nil {
			return false, fmt.Errorf("remove offering: %w", err)
		}
		if gone.RowsAffected() == 0 {
			return false, problem.RecordNotFound()
		}
		b := &pgx.Batch{}
		b.Queue(lockSKUsOf, act.TenantID, act.Subject, productID)
		b.Queue(withdrawSKUsOf, act.TenantID, act.Subject, productID)
		return true, tx.SendBatch(ctx, b).Close()
	})
}

// ResumeOffering ends the review of an offering.
func (s *Store) ResumeOffering(ctx context.Context, productID string, act Act) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, _ string) (bool, error) {
		var o rules.OfferingToResume
		err := tx.QueryRow(ctx, selectOffering, act.TenantID, act.Subject, productID).Scan(&o.Status, &o.Combinations)
		if errors.Is(err, pgx.ErrNoRows) {
			return false, problem.RecordNotFound()
		}
		if err != nil {
			return false, fmt.Errorf("read offering: %w", err)
		}
		gifts, err := readGifts(ctx, tx, []string{productID})
		if err != nil {
			return false, err
		}
		resume, err := o.CheckResume(gifts[productID])
		if err != nil || !resume {
			return false, err
		}
		_, err = tx.Exec(ctx, resumeOffering, act.TenantID, act.Subject, productID)
		return true, err
	})
}
