package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/postgres"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ErrNotFound means that the tenant has no such link, or that the token is unknown.
var ErrNotFound = errors.New("no such link")

const batchExists = `SELECT EXISTS (SELECT FROM link_batches WHERE tenant_id = $1 AND id = $2)`

var (
	fromLink  = `SELECT ` + linkColumns.Select() + ` FROM links l `
	fromLinks = `SELECT ` + listedColumns.Select() + ` FROM links l `

	selectRecord  = `SELECT ` + recordColumns.Select() + ` FROM links WHERE tenant_id = $1 AND id = $2`
	selectLink    = fromLink + `WHERE l.tenant_id = $1 AND l.id = $2`
	selectByToken = fromLink + `WHERE l.token_hash = $1`
	selectBatch   = fromLinks + `WHERE l.tenant_id = $1 AND l.batch_id = $2 AND l.batch_index > $3 ORDER BY l.batch_index LIMIT $4`
)

// GetRecord reads the record of one link.
func (s *Store) GetRecord(ctx context.Context, tenantID, id string) (*linksv1.PersonalLink, error) {
	return postgres.SelectOne(ctx, s.pool, "read link", ErrNotFound, s.scanRecord, selectRecord, tenantID, id)
}

// Get reads one link.
func (s *Store) Get(ctx context.Context, tenantID, id string) (*rules.Link, error) {
	return postgres.SelectOne(ctx, s.pool, "read link", ErrNotFound, s.scanLink, selectLink, tenantID, id)
}

// ByToken reads the link whose token has the hash.
func (s *Store) ByToken(ctx context.Context, hash []byte) (*rules.Link, error) {
	return postgres.SelectOne(ctx, s.pool, "read link", ErrNotFound, s.scanLink, selectByToken, hash)
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
	links, err = postgres.Select(ctx, s.pool, "read batch", s.scanListed, selectBatch, tenantID, batchID, after, limit+1)
	return links[:min(len(links), limit)], len(links) > limit, err
}
