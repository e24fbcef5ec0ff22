package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	insertImage = `INSERT INTO images (file_id, digest, content_type, size) VALUES ($1, $2, $3, $4)
ON CONFLICT (file_id) DO NOTHING`

	selectOpenImage = `SELECT i.file_id, i.digest, i.content_type, i.size FROM images i
WHERE i.file_id = $1 AND EXISTS (
  SELECT FROM products p
  WHERE p.image_file_ids @> ARRAY[$1::text] AND (p.state = 'PUBLISHED' OR EXISTS (
    SELECT FROM offerings o
    JOIN campaigns c ON c.tenant_id = o.tenant_id AND c.id = o.campaign_id
    WHERE o.product_id = p.id AND c.status IN ('ACTIVE', 'COMPLETED'))))`
)

// PutImage records an image whose bytes are stored.
func (s *Store) PutImage(ctx context.Context, i rules.Image) error {
	_, err := s.pool.Exec(ctx, insertImage, i.FileID, i.Digest, i.ContentType, i.Size)
	return err
}

// OpenImage gives an image that the public may see; none: nothing.
func (s *Store) OpenImage(ctx context.Context, fileID string) (rules.Image, bool, error) {
	var i rules.Image
	err := s.pool.QueryRow(ctx, selectOpenImage, fileID).Scan(&i.FileID, &i.Digest, &i.ContentType, &i.Size)
	if errors.Is(err, pgx.ErrNoRows) {
		return rules.Image{}, false, nil
	}
	if err != nil {
		return rules.Image{}, false, fmt.Errorf("read image: %w", err)
	}
	return i, true, nil
}
