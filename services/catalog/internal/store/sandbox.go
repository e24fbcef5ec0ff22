package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	selectCountries = `SELECT p.available_countries FROM {gifts} p WHERE p.id = $1`

	// What all tenants see of the gift, and what this one has changed.
	selectOverride = `SELECT p.available_countries, coalesce(s.unlisted, false), coalesce(s.added, '{}'), coalesce(s.removed, '{}'),
  coalesce(s.updated_at, p.updated_at), next_change()
FROM products p LEFT JOIN sandbox_products s ON s.tenant_id = $1 AND s.product_id = p.id
WHERE p.id = $2 AND p.state = 'PUBLISHED'`

	upsertOverride = `INSERT INTO sandbox_products (tenant_id, product_id, unlisted, added, removed, updated_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, product_id) DO UPDATE SET
  unlisted = EXCLUDED.unlisted, added = EXCLUDED.added, removed = EXCLUDED.removed, updated_at = EXCLUDED.updated_at`
)

var countries = newStatement(selectCountries, 1)

// SandboxCountries returns the countries to which a tenant of the sandbox can send a gift; none for an unknown gift.
func (s *Store) SandboxCountries(ctx context.Context, tenantID, productID string) (found []string, err error) {
	sql, args := s.forTenant(tenantID, countries, productID)
	err = s.pool.QueryRow(ctx, sql, args...).Scan(&found)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read countries of gift: %w", err)
	}
	return found, nil
}

// SandboxGift is a gift that a tenant of the sandbox is about to change for itself.
type SandboxGift struct {
	// Entry is the gift as all tenants see it, in the view of the reader.
	Entry Entry
	// Countries of the gift for all tenants.
	Countries []string
	Override  rules.Override
	// UpdatedAt is that of the tenant's last change, or else of the gift. NextChange is the updated_at of a change made now.
	UpdatedAt, NextChange time.Time
}

// QueueSandboxGift takes the lock of changes and reads a gift. into stays nil if the gift is not published.
func (s *Store) QueueSandboxGift(b *pgx.Batch, v View, productID string, into **SandboxGift) {
	*into = nil
	b.Queue(changeLock)
	var found SandboxGift
	b.Queue(selectOverride, v.TenantID, productID).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{
			&found.Countries, &found.Override.Unlisted, &found.Override.Added, &found.Override.Removed, &found.UpdatedAt, &found.NextChange,
		}, func() error {
			*into = &found
			return nil
		})
		return err
	})
	postgres.QueueSelectFirst(b, &found.Entry, scanEntry, entry.shared, v.Country, v.Locale, v.Currency, productID)
}

// QueueOverride writes what the tenant of the act has changed in its gift, with the audit.
func (s *Store) QueueOverride(b *pgx.Batch, gift *SandboxGift, act Act) {
	o := gift.Override
	b.Queue(upsertOverride, act.TenantID, act.Subject, o.Unlisted, notNil(o.Added), notNil(o.Removed), gift.NextChange)
	act.queue(b)
}

// QueueSandboxStock locks a SKU and reads its campaign as the tenant sees it. found is false if the tenant has no such campaign.
func (s *Store) QueueSandboxStock(b *pgx.Batch, tenantID, campaignID, locale, skuID string, into *CampaignView, found *bool) {
	b.Queue(lockSKU, tenantID, campaignID, skuID)
	sql, args := s.forTenant(tenantID, campaign, []string{locale}, tenantID, campaignID)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		offerings, err := pgx.CollectRows(rows, scanOffering(campaignColumns, []string{locale}))
		*into, *found = campaignOf(offerings), len(offerings) > 0
		return err
	})
}

// QueueStock sets the stock of a locked SKU, with its audit.
func (s *Store) QueueStock(b *pgx.Batch, act Act, c StockCorrection) {
	b.Queue(setStock, c.SKUID, c.After)
	act.Detail = c
	act.queue(b)
}
