package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	insertImage = `INSERT INTO images (file_id, digest, content_type, size, width, height) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (file_id) DO NOTHING`

	// A rendition is written once, so that its id stays valid.
	insertRenditions = `INSERT INTO image_renditions (original, width, file_id)
SELECT $1, r.width, r.file_id FROM unnest($2::int[], $3::text[]) AS r (width, file_id)
ON CONFLICT (original, width) DO NOTHING`

	// A logo has no renditions, and a hero picture has wider ones than an image. If gifts show an image that is uploaded as another
	// kind too, readers see those gifts change. A trigger computes their images whenever image_file_ids is written.
	touchGiftsShowing = `UPDATE products SET image_file_ids = image_file_ids,
  updated_at = CASE WHEN state = 'PUBLISHED' THEN next_change() ELSE updated_at END
WHERE image_file_ids @> ARRAY[$1::text]`

	// imagesArePublic is whether the public may see the images of a gift p.
	imagesArePublic = `(p.state = 'PUBLISHED' OR EXISTS (
      SELECT FROM offerings o
      JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.id = o.campaign_id
      WHERE o.product_id = p.id AND ` + statusNow + ` IN ('ACTIVE', 'COMPLETED')))`

	// brandPictures are the pictures of all brands, of every kind.
	brandPictures = `(SELECT tenant_id, brand_id, file_id FROM brand_heroes
  UNION ALL SELECT tenant_id, brand_id, file_id FROM brand_portraits
  UNION ALL SELECT tenant_id, brand_id, file_id FROM brand_signatures
  UNION ALL SELECT tenant_id, brand_id, file_id FROM brand_logos
  UNION ALL SELECT tenant_id, brand_id, file_id FROM brand_dark_logos) AS pictures`

	// A rendition is public if its original is. Of the pictures of brands, only heroes have renditions.
	selectPublicImage = `SELECT i.file_id, i.digest, i.content_type, i.size, i.width, i.height
FROM images i
WHERE i.file_id = $1 AND (EXISTS (SELECT FROM ` + brandPictures + ` WHERE file_id = $1) OR EXISTS (
  SELECT FROM brand_heroes WHERE file_id = ANY (ARRAY(SELECT original FROM image_renditions WHERE file_id = $1))
) OR EXISTS (
  SELECT FROM products p
  WHERE p.image_file_ids && (ARRAY(SELECT original FROM image_renditions WHERE file_id = $1) || $1::text)
    AND ` + imagesArePublic + `))`

	// The picture of a link is public while its parts are pictures of the same brand. $1 or $2 is empty if it has only one. The
	// smallest rendition that is wide enough is read, instead of the whole hero picture.
	selectLinkPicture = `SELECT coalesce((
  SELECT file_id FROM image_renditions WHERE original = $1 AND width >= 1200 ORDER BY width LIMIT 1
), $1)
FROM (SELECT tenant_id, brand_id FROM brand_heroes WHERE file_id = $1) h
FULL JOIN (SELECT tenant_id, brand_id FROM brand_logos WHERE file_id = $2
  UNION SELECT tenant_id, brand_id FROM brand_dark_logos WHERE file_id = $2) l USING (tenant_id, brand_id)
WHERE (h.brand_id IS NOT NULL OR $1 = '') AND (l.brand_id IS NOT NULL OR $2 = '')
LIMIT 1`
)

// PutImage records an image with its renditions, if it has any, whose files are stored. It keeps existing records. With touch, it
// changes the gifts that show the image.
func (s *Store) PutImage(ctx context.Context, original rules.Image, renditions []rules.Image, touch bool) error {
	widths := postgres.Column(renditions, func(r rules.Image) int { return r.Width })
	ids := postgres.Column(renditions, func(r rules.Image) string { return r.FileID })
	return s.change(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		for _, i := range append(renditions, original) {
			b.Queue(insertImage, i.FileID, i.Digest, i.ContentType, i.Size, i.Width, i.Height)
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("write images: %w", err)
		}
		written, err := tx.Exec(ctx, insertRenditions, original.FileID, widths, ids)
		if err != nil || written.RowsAffected() == 0 || !touch {
			return err
		}
		_, err = tx.Exec(ctx, touchGiftsShowing, original.FileID)
		return err
	})
}

// PublicImage reads an image if the public may see it.
func (s *Store) PublicImage(ctx context.Context, fileID string) (i rules.Image, public bool, err error) {
	err = s.pool.QueryRow(ctx, selectPublicImage, fileID).
		Scan(&i.FileID, &i.Digest, &i.ContentType, &i.Size, &i.Width, &i.Height)
	if errors.Is(err, pgx.ErrNoRows) {
		return rules.Image{}, false, nil
	}
	if err != nil {
		return rules.Image{}, false, fmt.Errorf("read image: %w", err)
	}
	return i, true, nil
}

// PublicLinkPicture reports whether the public may see the picture of a link, and returns the file of its hero picture, if any.
func (s *Store) PublicLinkPicture(ctx context.Context, hero, logo string) (heroFile string, public bool, err error) {
	err = s.pool.QueryRow(ctx, selectLinkPicture, hero, logo).Scan(&heroFile)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read picture of a link: %w", err)
	}
	return heroFile, true, nil
}

// BrandPictures are the pictures of one kind that are public as long as they are among the latest of their brand.
type BrandPictures string

// The tables of pictures.
const (
	Heroes     BrandPictures = "brand_heroes"
	Portraits  BrandPictures = "brand_portraits"
	Signatures BrandPictures = "brand_signatures"
	// Logos are those for light pages.
	Logos     BrandPictures = "brand_logos"
	DarkLogos BrandPictures = "brand_dark_logos"
)

const (
	// Uploads of one brand run one at a time.
	lockPictures = `SELECT pg_advisory_xact_lock(hashtextextended($1 || $2, 4713002))`

	// It is the latest one, also if the clock was ahead when others were uploaded.
	upsertPicture = `INSERT INTO %[1]s (tenant_id, brand_id, file_id, uploaded_at) SELECT $1, $2, $3,
  greatest(clock_timestamp(), max(uploaded_at) + interval '1 microsecond') FROM %[1]s WHERE tenant_id = $1 AND brand_id = $2
ON CONFLICT (tenant_id, brand_id, file_id) DO UPDATE SET uploaded_at = EXCLUDED.uploaded_at`

	deleteOlderPictures = `DELETE FROM %[1]s WHERE tenant_id = $1 AND brand_id = $2 AND file_id NOT IN (
  SELECT file_id FROM %[1]s WHERE tenant_id = $1 AND brand_id = $2 ORDER BY uploaded_at DESC, file_id LIMIT $3
)`
)

// PutBrandPicture makes an image public as the latest one of a brand and kind. Only the latest rules.MaxPublicPictures of a kind
// stay public.
func (s *Store) PutBrandPicture(ctx context.Context, table BrandPictures, tenantID, brandID, fileID string) error {
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(lockPictures, tenantID, brandID)
		b.Queue(fmt.Sprintf(upsertPicture, table), tenantID, brandID, fileID)
		b.Queue(fmt.Sprintf(deleteOlderPictures, table), tenantID, brandID, rules.MaxPublicPictures)
	})
	if err != nil {
		return fmt.Errorf("write picture of a brand: %w", err)
	}
	return nil
}
