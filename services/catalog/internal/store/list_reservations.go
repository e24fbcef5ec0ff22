package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Both read the primary key. There are few released reservations, because they are deleted after some weeks.
const (
	selectReservations = `SELECT tenant_id::text, order_id::text, state, reservation_key FROM reservations
WHERE order_id > $1 AND state <> 'RELEASED' ORDER BY order_id LIMIT $2`

	selectReservationsOf = `SELECT tenant_id::text, order_id::text, state, reservation_key FROM reservations
WHERE order_id = ANY($1::uuid[]) ORDER BY order_id`
)

// Reservations lists up to limit reservations that hold stock, by order id.
func (s *Store) Reservations(ctx context.Context, after string, limit int) ([]*catalogv1.Reservation, error) {
	return s.listReservations(ctx, selectReservations, after, limit)
}

// ReservationsOf lists the reservations of the orders, in every state.
func (s *Store) ReservationsOf(ctx context.Context, orderIDs []string) ([]*catalogv1.Reservation, error) {
	return s.listReservations(ctx, selectReservationsOf, orderIDs)
}

func (s *Store) listReservations(ctx context.Context, sql string, args ...any) ([]*catalogv1.Reservation, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list reservations: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*catalogv1.Reservation, error) {
		r := &catalogv1.Reservation{}
		return r, row.Scan(&r.TenantId, &r.OrderId, postgres.ScanEnum(&r.State), &r.ReservationKey)
	})
	if err != nil {
		return nil, fmt.Errorf("list reservations: %w", err)
	}
	return found, nil
}
