package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Place of an order in the walk over all of them.
type Place struct {
	TenantID string
	OrderID  string
}

// FirstPlace is before every order.
var FirstPlace = Place{TenantID: firstID, OrderID: firstID}

// Resealed is what became of one step of the walk.
type Resealed struct {
	// Seen is how many orders the step looked at; fewer than its limit at the end.
	Seen int
	// Last is where the next step goes on.
	Last Place
	// Sealed is how many were sealed again.
	Sealed int
	// Missed is how many somebody wrote meanwhile: they are as that writer sealed them.
	Missed int
	// Broken are the orders that do not open with any key of the ring. They stay as they are.
	Broken []string
}

const (
	// A value under the active key, or an erased one, need not travel.
	selectSealed = `SELECT tenant_id, id, CASE WHEN substring(details_sealed FOR length($4::bytea)) = $4 THEN ''::bytea ELSE details_sealed END
FROM orders WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT $3`

	// What was read is compared with what is there, so a correction made meanwhile is not undone.
	replaceSealed = `UPDATE orders SET details_sealed = r.new
FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS r (tenant_id, id, old, new)
WHERE orders.tenant_id = r.tenant_id AND orders.id = r.id AND orders.details_sealed = r.old`

	// An estimate: counting would read every order.
	estimateOrders = `SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = 'orders'::regclass`
)

type sealedRow struct {
	TenantID string
	OrderID  string
	Sealed   []byte
}

// Reseal seals again, under the active key, what of the next orders behind after is sealed under
// another.
func (s *Store) Reseal(ctx context.Context, after Place, limit int) (r Resealed, err error) {
	rows, err := s.pool.Query(ctx, selectSealed, after.TenantID, after.OrderID, limit, s.ring.Prefix())
	if err != nil {
		return r, fmt.Errorf("read sealed: %w", err)
	}
	page, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealedRow])
	if err != nil {
		return r, fmt.Errorf("read sealed: %w", err)
	}
	r.Seen, r.Last = len(page), after
	if len(page) > 0 {
		last := page[len(page)-1]
		r.Last = Place{TenantID: last.TenantID, OrderID: last.OrderID}
	}
	return r, s.replace(ctx, page, &r)
}

func (s *Store) replace(ctx context.Context, page []sealedRow, r *Resealed) error {
	var tenants, orders []string
	var before, now [][]byte
	for _, row := range page {
		if len(row.Sealed) == 0 {
			continue
		}
		plain, err := s.ring.Open(row.Sealed, place(row.OrderID))
		if err != nil {
			r.Broken = append(r.Broken, row.OrderID)
			continue
		}
		tenants, orders = append(tenants, row.TenantID), append(orders, row.OrderID)
		before, now = append(before, row.Sealed), append(now, s.ring.Seal(plain, place(row.OrderID)))
	}
	if len(orders) == 0 {
		return nil
	}
	tag, err := s.pool.Exec(ctx, replaceSealed, tenants, orders, before, now)
	if err != nil {
		return fmt.Errorf("reseal: %w", err)
	}
	r.Sealed = int(tag.RowsAffected())
	r.Missed = len(orders) - r.Sealed
	return nil
}

// EstimateOrders is about how many orders there are.
func (s *Store) EstimateOrders(ctx context.Context) (n int64, err error) {
	if err := s.pool.QueryRow(ctx, estimateOrders).Scan(&n); err != nil {
		return 0, fmt.Errorf("estimate orders: %w", err)
	}
	return n, nil
}
