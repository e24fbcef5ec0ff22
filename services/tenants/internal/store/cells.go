package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ErrNoCell means that a tenant cannot begin in the cell, or be moved to it.
var ErrNoCell = errors.New("the cell is unknown, closed or full")

const (
	cellColumns = `letter, catalog_addr, orders_addr, personal_links_addr, events_addr, webhook_addr`

	tenantsIn = `(SELECT count(*) FROM tenants t WHERE t.cell = c.letter)::int`

	selectCell = `SELECT ` + cellColumns + `, open, room, ` + tenantsIn + ` FROM cells c WHERE letter = $1`

	selectCells = `SELECT ` + cellColumns + `, open, room, ` + tenantsIn + ` FROM cells c ORDER BY letter`

	putCell = `INSERT INTO cells AS c (` + cellColumns + `, open, room) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (letter) DO UPDATE SET catalog_addr = excluded.catalog_addr, orders_addr = excluded.orders_addr,
  personal_links_addr = excluded.personal_links_addr, events_addr = excluded.events_addr, webhook_addr = excluded.webhook_addr,
  open = excluded.open, room = excluded.room`

	drainCell = `UPDATE cells SET open = false WHERE letter = $1`

	// The lock makes the count right: two new tenants must not both take the last room.
	lockCells = `LOCK TABLE cells IN SHARE ROW EXCLUSIVE MODE`

	chooseCell = `SELECT letter FROM cells c WHERE open AND (room = 0 OR ` + tenantsIn + ` < room) AND $1 IN ('', letter)
ORDER BY ` + tenantsIn + `, letter LIMIT 1`
)

// Cells lists all cells by their letters.
func (s *Store) Cells(ctx context.Context) ([]*tenantsv1.CellRecord, error) {
	return postgres.Select(ctx, s.pool, "list cells", scanCell, selectCells)
}

func scanCell(row pgx.CollectableRow) (*tenantsv1.CellRecord, error) {
	r := &tenantsv1.CellRecord{Cell: &tenantsv1.Cell{}}
	return r, row.Scan(&r.Cell.Letter, &r.Cell.CatalogAddr, &r.Cell.OrdersAddr, &r.Cell.PersonalLinksAddr, &r.Cell.EventsAddr,
		&r.Cell.WebhookAddr, &r.Open, &r.Room, &r.Tenants)
}

// OtherCells lists the cells besides the first one, with their addresses.
func (s *Store) OtherCells(ctx context.Context) (others []*tenantsv1.Cell, err error) {
	all, err := s.Cells(ctx)
	for _, r := range all {
		if r.GetCell().GetLetter() != identity.HomeCell {
			others = append(others, r.GetCell())
		}
	}
	return others, err
}

// PutCell adds a cell or replaces it.
func (s *Store) PutCell(ctx context.Context, r *tenantsv1.CellRecord) error {
	c := r.GetCell()
	return s.exec(ctx, "put cell", putCell, c.GetLetter(), c.GetCatalogAddr(), c.GetOrdersAddr(), c.GetPersonalLinksAddr(),
		c.GetEventsAddr(), c.GetWebhookAddr(), r.GetOpen(), r.GetRoom())
}

// DrainCell closes a cell. It fails with ErrNotFound if there is none.
func (s *Store) DrainCell(ctx context.Context, letter string) error {
	done, err := s.pool.Exec(ctx, drainCell, letter)
	if err != nil {
		return fmt.Errorf("drain cell: %w", err)
	}
	if done.RowsAffected() == 0 {
		return ErrNotFound
	}
	return nil
}

// Cell returns a cell with the number of its tenants. It fails with ErrNotFound if there is none.
func (s *Store) Cell(ctx context.Context, letter string) (*tenantsv1.CellRecord, error) {
	return postgres.SelectOne(ctx, s.pool, "read cell", ErrNotFound, scanCell, selectCell, letter)
}

// cellWithRoom returns the letter of the wanted cell, or of the one with the fewest tenants if none is wanted. It fails with
// ErrNoCell if that cell takes no tenant. Until the transaction ends, no other one takes the room.
func cellWithRoom(ctx context.Context, tx pgx.Tx, wanted string) (letter string, err error) {
	if _, err := tx.Exec(ctx, lockCells); err != nil {
		return "", fmt.Errorf("lock cells: %w", err)
	}
	err = tx.QueryRow(ctx, chooseCell, wanted).Scan(&letter)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoCell
	}
	return letter, err
}

// CellOf returns the letter of the cell that holds the tenant's records; that of the first one if the tenant is unknown.
func (s *Store) CellOf(ctx context.Context, tenantID string) (letter string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT coalesce((SELECT cell FROM tenants WHERE id = $1), 'a')`, tenantID).Scan(&letter)
	if err != nil {
		return "", fmt.Errorf("read cell of tenant: %w", err)
	}
	return letter, nil
}
