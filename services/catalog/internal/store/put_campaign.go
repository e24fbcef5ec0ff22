package store

import (
	"context"
	"fmt"

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

	// In the order in which ConfirmAndRelease locks them.
	lockSKUs = `SELECT id FROM skus WHERE tenant_id = $1 AND campaign_id = $2 ORDER BY id FOR UPDATE`

	deleteOfferings = `DELETE FROM offerings WHERE tenant_id = $1 AND campaign_id = $2`

	insertOffering = `INSERT INTO offerings (tenant_id, campaign_id, product_id, status, supply_type, position)
VALUES ($1, $2, $3, $4, $5, $6)`

	withdrawSKUs = `UPDATE skus SET offered = false WHERE tenant_id = $1 AND campaign_id = $2 AND offered`

	// Stock that exists is left as it is.
	upsertSKU = `INSERT INTO skus (tenant_id, campaign_id, product_id, variations_key, id, variations, offered, stock)
VALUES ($1, $2, $3, $4, $5, $6, true, $7)
ON CONFLICT (tenant_id, campaign_id, product_id, variations_key)
DO UPDATE SET offered = true, stock = coalesce(skus.stock, EXCLUDED.stock)`

	campaignOfOneTenant = "campaigns_one_tenant"
)

// PutCampaign creates a campaign or replaces it whole, except for the stock of SKUs that exist.
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
	if constraint, ok := postgres.UniqueViolation(err); ok && constraint == campaignOfOneTenant {
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

// statusOf is the status of an offering that is put while the gift is as it is.
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
