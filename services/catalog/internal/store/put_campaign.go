package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	upsertCampaign = `INSERT INTO campaigns (tenant_id, id, brand_id, name, status, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, id) DO UPDATE SET
  brand_id = EXCLUDED.brand_id, name = EXCLUDED.name, status = EXCLUDED.status, expires_at = EXCLUDED.expires_at`

	// The order is that of ConfirmAndRelease, so that they do not deadlock.
	lockSKUs = `SELECT id FROM skus WHERE tenant_id = $1 AND campaign_id = $2 ORDER BY id FOR UPDATE`

	deleteOfferings = `DELETE FROM offerings WHERE tenant_id = $1 AND campaign_id = $2`

	insertOffering = `INSERT INTO offerings (tenant_id, campaign_id, product_id, status, supply_type, position)
VALUES ($1, $2, $3, $4, $5, $6)`

	withdrawSKUs = `UPDATE skus SET offered = false WHERE tenant_id = $1 AND campaign_id = $2 AND offered`

	// Existing stock does not change.
	upsertSKU = `INSERT INTO skus (tenant_id, campaign_id, product_id, variations_key, id, variations, offered, stock)
VALUES ($1, $2, $3, $4, $5, $6, true, $7)
ON CONFLICT (tenant_id, campaign_id, product_id, variations_key)
DO UPDATE SET offered = true, stock = coalesce(skus.stock, EXCLUDED.stock)`

	constraintOneTenant = "campaigns_one_tenant"
)

// PutCampaign creates a campaign or replaces it as a whole, except for the stock of existing SKUs.
func (s *Store) PutCampaign(ctx context.Context, c rules.Campaign) error {
	err := s.change(ctx, func(tx pgx.Tx) error {
		ids := make([]string, len(c.Offerings))
		for i, o := range c.Offerings {
			ids[i] = o.ProductID
		}
		gifts, err := readGifts(ctx, tx, ids)
		if err != nil {
			return err
		}
		if err := c.CheckGifts(gifts); err != nil {
			return err
		}
		b := &pgx.Batch{}
		if err := queueCampaign(b, c, gifts); err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if constraint, ok := postgres.UniqueViolation(err); ok && constraint == constraintOneTenant {
		return problem.Invalid(problem.Violation{
			Field: "id", Code: problem.FieldInvalid, Message: "belongs to a campaign of another tenant",
		})
	}
	return err
}

func queueCampaign(b *pgx.Batch, c rules.Campaign, gifts map[string]rules.Product) error {
	b.Queue(upsertCampaign, c.TenantID, c.ID, c.BrandID, c.Name, c.Status, c.ExpiresAt)
	b.Queue(lockSKUs, c.TenantID, c.ID)
	b.Queue(deleteOfferings, c.TenantID, c.ID)
	b.Queue(withdrawSKUs, c.TenantID, c.ID)
	for i, o := range c.Offerings {
		b.Queue(insertOffering, c.TenantID, c.ID, o.ProductID, statusOf(gifts[o.ProductID]), o.SupplyType, i)
		if err := queueSKUs(b, c.TenantID, c.ID, o); err != nil {
			return err
		}
	}
	return nil
}

// statusOf is the status of an offering of the gift when it is put.
func statusOf(gift rules.Product) string {
	if gift.State != rules.Published {
		return rules.OfferingNeedsReview
	}
	return rules.OfferingActive
}

func queueSKUs(b *pgx.Batch, tenantID, campaignID string, o rules.Offering) error {
	for _, sku := range o.SKUs {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("id of SKU: %w", err)
		}
		choice := sku.Variations
		if choice == nil {
			choice = map[string]string{}
		}
		b.Queue(upsertSKU, tenantID, campaignID, o.ProductID, rules.VariationsKey(choice), id.String(), choice, sku.InitialStock)
	}
	return nil
}

const (
	lockCampaign = `SELECT ` + statusNow + ` FROM campaigns c WHERE c.tenant_id = $1 AND c.id = $2 FOR UPDATE`

	setCampaignStatus = `UPDATE campaigns SET status = $3 WHERE tenant_id = $1 AND id = $2`

	// Locked rows are skipped: a campaign that is being changed is completed at the next tick.
	completeExpired = `WITH due AS (
  SELECT tenant_id, id FROM campaigns WHERE status <> 'COMPLETED' AND expires_at <= catalog_now() - $1::interval
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
), completed AS (
  UPDATE campaigns c SET status = 'COMPLETED' FROM due WHERE c.tenant_id = due.tenant_id AND c.id = due.id
  RETURNING c.tenant_id, c.id
)
INSERT INTO catalog_audit (tenant_id, id, actor_kind, actor_id, action, subject_id, detail)
SELECT tenant_id, gen_random_uuid(), 'SYSTEM', '', 'campaign.expire', id, '{}' FROM completed`
)

// StartCampaign opens a campaign for orders.
func (s *Store) StartCampaign(ctx context.Context, act Act) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, status string) (changed bool, err error) {
		start, err := rules.CheckStart(status)
		if err != nil || !start {
			return false, err
		}
		_, err = tx.Exec(ctx, setCampaignStatus, act.TenantID, act.Subject, rules.CampaignActive)
		return true, err
	})
}

// CompleteCampaign ends a campaign for orders.
func (s *Store) CompleteCampaign(ctx context.Context, act Act) error {
	return s.inCampaign(ctx, act, func(tx pgx.Tx, status string) (changed bool, err error) {
		if status == rules.CampaignCompleted {
			return false, nil
		}
		_, err = tx.Exec(ctx, setCampaignStatus, act.TenantID, act.Subject, rules.CampaignCompleted)
		return true, err
	})
}

// inCampaign runs work on the campaign of the act, as the only change of the catalog, and records the act if work changed
// anything.
func (s *Store) inCampaign(
	ctx context.Context, act Act, work func(tx pgx.Tx, status string) (changed bool, err error),
) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		var status string
		err := tx.QueryRow(ctx, lockCampaign, act.TenantID, act.Subject).Scan(&status)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.RecordNotFound()
		}
		if err != nil {
			return fmt.Errorf("lock campaign: %w", err)
		}
		changed, err := work(tx, status)
		if err != nil || !changed {
			return err
		}
		return act.record(ctx, tx)
	})
}

// CompleteExpired records that campaigns have completed at their expiry, and returns how many. The time counts as earlier by lag.
// Reads do not depend on it. A recorded campaign stays completed if its expiry changes, so a clock that is ahead for a moment must
// record nothing.
func (s *Store) CompleteExpired(ctx context.Context, lag time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "complete expired campaigns", completeExpired, lag, limit)
}

// statusNow is the current status of campaign c: from expires_at on, it counts as completed even if that is not recorded. The
// database's clock decides, so that all instances agree.
const statusNow = `CASE WHEN c.expires_at <= catalog_now() THEN 'COMPLETED' ELSE c.status END`
