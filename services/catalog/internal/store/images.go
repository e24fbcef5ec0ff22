package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	// The update is for images stored before their size was read.
	insertImage = `INSERT INTO images (file_id, digest, content_type, size, width, height) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (file_id) DO UPDATE SET width = EXCLUDED.width, height = EXCLUDED.height WHERE images.width IS NULL`

	// Renditions are written once, so that their ids stay good.
	insertRenditions = `INSERT INTO image_renditions (original, width, file_id)
SELECT $1, r.width, r.file_id FROM unnest($2::int[], $3::text[]) AS r (width, file_id)
WHERE NOT EXISTS (SELECT FROM image_renditions WHERE original = $1)`

	// For an image that gifts showed before it had renditions: readers see it change.
	touchShowing = `UPDATE products SET image_file_ids = image_file_ids,
  updated_at = CASE WHEN state = 'PUBLISHED' THEN next_change() ELSE updated_at END
WHERE image_file_ids @> ARRAY[$1::text]`

	// A rendition is open when an image it shows is.
	selectOpenImage = `SELECT i.file_id, i.digest, i.content_type, i.size, coalesce(i.width, 0), coalesce(i.height, 0)
FROM images i
WHERE i.file_id = $1 AND (EXISTS (SELECT FROM brand_logos WHERE file_id = $1) OR EXISTS (
  SELECT FROM products p
  WHERE p.image_file_ids && (ARRAY(SELECT original FROM image_renditions WHERE file_id = $1) || $1::text)
    AND (p.state = 'PUBLISHED' OR EXISTS (
      SELECT FROM offerings o
      JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.id = o.campaign_id
      WHERE o.product_id = p.id AND c.status IN ('ACTIVE', 'COMPLETED')))))`
)

// PutImage records an image with its renditions, whose bytes are all stored. What stands already
// stays.
func (s *Store) PutImage(ctx context.Context, original rules.Image, renditions []rules.Image) error {
	var widths []int32
	var ids []string
	for _, r := range renditions {
		widths, ids = append(widths, int32(r.Width)), append(ids, r.FileID) //nolint:gosec // Pixels.
	}
	return s.change(ctx, func(tx pgx.Tx) error {
		if err := writeImages(ctx, tx, append(renditions, original)); err != nil {
			return err
		}
		written, err := tx.Exec(ctx, insertRenditions, original.FileID, widths, ids)
		if err != nil || written.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, touchShowing, original.FileID)
		return err
	})
}

func writeImages(ctx context.Context, tx pgx.Tx, images []rules.Image) error {
	b := &pgx.Batch{}
	for _, i := range images {
		queueImage(b, i)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("write images: %w", err)
	}
	return nil
}

func queueImage(b *pgx.Batch, i rules.Image) {
	b.Queue(insertImage, i.FileID, i.Digest, i.ContentType, i.Size, i.Width, i.Height)
}

// OpenImage gives an image that the public may see; none: nothing.
func (s *Store) OpenImage(ctx context.Context, fileID string) (rules.Image, bool, error) {
	var i rules.Image
	err := s.pool.QueryRow(ctx, selectOpenImage, fileID).
		Scan(&i.FileID, &i.Digest, &i.ContentType, &i.Size, &i.Width, &i.Height)
	if errors.Is(err, pgx.ErrNoRows) {
		return rules.Image{}, false, nil
	}
	if err != nil {
		return rules.Image{}, false, fmt.Errorf("read image: %w", err)
	}
	return i, true, nil
}
