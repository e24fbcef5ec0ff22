package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const upsertTenant = `INSERT INTO tenants AS t (id, name, locales, currency, approval_required, api_access)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, locales = excluded.locales, currency = excluded.currency,
  approval_required = excluded.approval_required, api_access = excluded.api_access, version = t.version + 1
WHERE (t.name, t.locales, t.currency, t.approval_required, t.api_access)
  IS DISTINCT FROM
  (excluded.name, excluded.locales, excluded.currency, excluded.approval_required, excluded.api_access)
RETURNING version`

// PutTenant creates or replaces a tenant and returns it with its custom fields.
func (s *Store) PutTenant(
	ctx context.Context, t *tenantsv1.Tenant, apiAccess bool,
) (stored *tenantsv1.Tenant, version int64, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, upsertTenant, t.GetId(), t.GetName(), t.GetLocales(), t.GetCurrency(),
			t.GetApprovalRequired(), apiAccess).Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) { // Nothing to change.
			err = tx.QueryRow(ctx, lockTenant, t.GetId()).Scan(&version)
		}
		if err != nil {
			return fmt.Errorf("put tenant: %w", err)
		}
		stored = &tenantsv1.Tenant{}
		b := &pgx.Batch{}
		b.Queue(selectTenant, t.GetId()).QueryRow(scanTenant(stored, &version))
		b.Queue(selectFields, t.GetId()).Query(collect(&stored.CustomFields, scanField))
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("read tenant: %w", err)
		}
		return nil
	})
	return stored, version, translate(err)
}

const (
	selectTenant = `SELECT id, name, locales, currency, approval_required, version FROM tenants WHERE id = $1`

	selectFields = `SELECT id, label, type, required, options FROM custom_fields
WHERE tenant_id = $1 ORDER BY position, id`
)

func scanTenant(t *tenantsv1.Tenant, version *int64) func(row pgx.Row) error {
	return func(row pgx.Row) error {
		return row.Scan(&t.Id, &t.Name, &t.Locales, &t.Currency, &t.ApprovalRequired, version)
	}
}

// collect reads the rows of a batched query into *into.
func collect[T any](into *[]T, scan pgx.RowToFunc[T]) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	}
}

// list is never nil, which would become NULL.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
