package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	// Uploads of one brand run one at a time.
	lockLogos = `SELECT pg_advisory_xact_lock(hashtextextended($1 || $2, 4713002))`

	upsertLogo = `INSERT INTO brand_logos (tenant_id, brand_id, file_id, uploaded_at) VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT (tenant_id, brand_id, file_id) DO UPDATE SET uploaded_at = EXCLUDED.uploaded_at`

	deleteOldLogos = `DELETE FROM brand_logos WHERE tenant_id = $1 AND brand_id = $2 AND file_id NOT IN (
  SELECT file_id FROM brand_logos WHERE tenant_id = $1 AND brand_id = $2 ORDER BY uploaded_at DESC, file_id LIMIT $3)`
)

// PutLogo records an image whose bytes are stored and opens it as the latest logo of a brand. Past
// rules.LogosKept the oldest is closed.
func (s *Store) PutLogo(ctx context.Context, l rules.Logo, i rules.Image) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(lockLogos, l.TenantID, l.BrandID)
		queueImage(b, i)
		b.Queue(upsertLogo, l.TenantID, l.BrandID, i.FileID)
		b.Queue(deleteOldLogos, l.TenantID, l.BrandID, rules.LogosKept)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("write logo: %w", err)
		}
		return nil
	})
}
