package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ErrNotFound means that the tenant has no such link, or that the token is unknown.
var ErrNotFound = errors.New("no such link")

const (
	selectRecord  = `SELECT ` + recordColumns + ` FROM links l WHERE l.tenant_id = $1 AND l.id = $2`
	selectLink    = `SELECT ` + linkColumns + ` FROM links l WHERE l.tenant_id = $1 AND l.id = $2`
	selectByToken = `SELECT ` + linkColumns + ` FROM links l WHERE l.token_hash = $1`
	selectBatch   = `SELECT ` + linkColumns + ` FROM links l
WHERE l.tenant_id = $1 AND l.batch_id = $2 AND l.batch_index > $3 ORDER BY l.batch_index LIMIT $4`
	batchExists = `SELECT EXISTS (SELECT FROM link_batches WHERE tenant_id = $1 AND id = $2)`
)

// GetRecord reads the record of one link.
func (s *Store) GetRecord(ctx context.Context, tenantID, id string) (*linksv1.PersonalLink, error) {
	return one(ctx, s, s.scanRecord, selectRecord, tenantID, id)
}

// Get reads one link.
func (s *Store) Get(ctx context.Context, tenantID, id string) (*rules.Link, error) {
	return one(ctx, s, s.scanLink, selectLink, tenantID, id)
}

// ByToken reads the link whose token has the hash.
func (s *Store) ByToken(ctx context.Context, hash []byte) (*rules.Link, error) {
	return one(ctx, s, s.scanLink, selectByToken, hash)
}

func one[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) (found T, err error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return found, fmt.Errorf("read link: %w", err)
	}
	found, err = pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, ErrNotFound
	}
	if err != nil {
		return found, fmt.Errorf("read link: %w", err)
	}
	return found, nil
}

// Batch reads up to limit links of the batch whose index is above after, in their order, and whether more follow.
func (s *Store) Batch(ctx context.Context, tenantID, batchID string, after, limit int) (links []*rules.Link, more bool, err error) {
	var exists bool
	if err := s.pool.QueryRow(ctx, batchExists, tenantID, batchID).Scan(&exists); err != nil {
		return nil, false, fmt.Errorf("read batch: %w", err)
	}
	if !exists {
		return nil, false, ErrNotFound
	}
	rows, err := s.pool.Query(ctx, selectBatch, tenantID, batchID, after, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read batch: %w", err)
	}
	links, err = pgx.CollectRows(rows, s.scanLink)
	if err != nil {
		return nil, false, fmt.Errorf("read batch: %w", err)
	}
	if len(links) > limit {
		return links[:limit], true, nil
	}
	return links, false, nil
}
