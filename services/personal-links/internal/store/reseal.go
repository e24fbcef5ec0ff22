package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/seal"
)

// Resealed is what became of a walk over all links.
type Resealed struct {
	// Seen links, and how many of them were sealed again.
	Seen, Sealed int
	// Broken are links with a value that no key of the ring opens. They stay as they are.
	Broken []string
}

const (
	selectSealed = `SELECT tenant_id, id, claim_url_sealed, details_sealed, reason_sealed
FROM links WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT $3`

	// What was read is compared with what is there, so a change made meanwhile is not undone: it was
	// sealed under the active key.
	replaceSealed = `UPDATE links SET
  claim_url_sealed = CASE WHEN claim_url_sealed = $3 THEN $4 ELSE claim_url_sealed END,
  details_sealed = CASE WHEN details_sealed = $5 THEN $6 ELSE details_sealed END,
  reason_sealed = CASE WHEN reason_sealed = $7 THEN $8 ELSE reason_sealed END
WHERE tenant_id = $1 AND id = $2`

	firstID     = "00000000-0000-0000-0000-000000000000"
	resealBatch = 500
)

// ErrBroken says that some links could not be sealed again.
var ErrBroken = errors.New("links with a value that no key of the ring opens")

type sealedRow struct {
	TenantID, ID         string
	URL, Details, Reason []byte
}

// Reseal seals again, under the ring's active key, what of every link is sealed under another. It
// may run beside the service and be repeated. tell is called after each part of the walk.
func (s *Store) Reseal(ctx context.Context, tell func(r Resealed)) (r Resealed, err error) {
	tenantID, id := firstID, firstID
	for {
		rows, err := s.pool.Query(ctx, selectSealed, tenantID, id, resealBatch)
		if err != nil {
			return r, fmt.Errorf("read sealed: %w", err)
		}
		page, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealedRow])
		if err != nil {
			return r, fmt.Errorf("read sealed: %w", err)
		}
		if err := s.resealPage(ctx, page, &r); err != nil {
			return r, err
		}
		tell(r)
		if len(page) < resealBatch {
			return r, brokenLinks(r)
		}
		tenantID, id = page[len(page)-1].TenantID, page[len(page)-1].ID
	}
}

func brokenLinks(r Resealed) error {
	if len(r.Broken) > 0 {
		return fmt.Errorf("%w: %d, the first is %s", ErrBroken, len(r.Broken), r.Broken[0])
	}
	return nil
}

func (s *Store) resealPage(ctx context.Context, page []sealedRow, r *Resealed) error {
	b := &pgx.Batch{}
	for _, row := range page {
		r.Seen++
		args := []any{row.TenantID, row.ID}
		stale, broken := false, false
		for _, column := range []struct {
			value []byte
			place string
		}{{row.URL, row.ID}, {row.Details, detailsPlace(row.ID)}, {row.Reason, reasonPlace(row.ID)}} {
			again, changed, err := resealed(s.ring, column.value, column.place)
			stale, broken = stale || changed, broken || err != nil
			args = append(args, column.value, again)
		}
		if broken {
			r.Broken = append(r.Broken, row.ID)
		}
		if stale {
			b.Queue(replaceSealed, args...)
		}
	}
	r.Sealed += b.Len()
	if b.Len() == 0 {
		return nil
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("reseal: %w", err)
	}
	return nil
}

// resealed gives the value under the active key. One that is under it, or that does not open, stays.
func resealed(ring *seal.Ring, value []byte, place string) (again []byte, changed bool, err error) {
	if len(value) == 0 || !ring.Stale(value) {
		return value, false, nil
	}
	plain, err := ring.Open(value, place)
	if err != nil {
		return value, false, err
	}
	return ring.Seal(plain, place), true, nil
}
