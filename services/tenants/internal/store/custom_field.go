package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	selectFieldType = `SELECT type FROM custom_fields WHERE tenant_id = $1 AND id = $2`

	upsertField = `INSERT INTO custom_fields AS f (tenant_id, id, label, type, required, options, position)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant_id, id) DO UPDATE SET label = excluded.label, required = excluded.required,
  options = excluded.options, position = excluded.position
WHERE (f.label, f.required, f.options, f.position)
  IS DISTINCT FROM (excluded.label, excluded.required, excluded.options, excluded.position)`
)

// PutCustomField creates or replaces a field. It fails with ErrTypeFixed if the field has another type.
func (s *Store) PutCustomField(
	ctx context.Context, tenantID string, f *tenantsv1.CustomField, position int32,
) (version int64, err error) {
	return s.change(ctx, tenantID, func(tx pgx.Tx) (bool, error) {
		var stored string
		err := tx.QueryRow(ctx, selectFieldType, tenantID, f.GetId()).Scan(&stored)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return false, fmt.Errorf("read field type: %w", err)
		}
		if err == nil && stored != enumname.String(f.GetType()) {
			return false, ErrTypeFixed
		}
		tag, err := tx.Exec(ctx, upsertField, tenantID, f.GetId(), f.GetLabel(),
			enumname.String(f.GetType()), f.GetRequired(), list(f.GetOptions()), position)
		return tag.RowsAffected() > 0, err
	})
}

func scanField(row pgx.CollectableRow) (*tenantsv1.CustomField, error) {
	f := &tenantsv1.CustomField{}
	return f, row.Scan(&f.Id, &f.Label, postgres.ScanEnum(&f.Type), &f.Required, &f.Options)
}
