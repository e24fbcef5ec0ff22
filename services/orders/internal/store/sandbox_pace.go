package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const (
	// The database's clock decides for all instances. A step that is further away than its pace is due too: the clock was set back.
	isDue = `(due_at <= clock_timestamp() OR due_at > clock_timestamp() + make_interval(secs => every_seconds))`

	insertPace = `INSERT INTO sandbox_paces (tenant_id, order_id, every_seconds, stop_at, due_at)
VALUES ($1, $2, $3::integer, $4, clock_timestamp() + make_interval(secs => $3::integer))`

	selectDuePaces = `SELECT tenant_id::text, order_id::text FROM sandbox_paces WHERE ` + isDue + `
ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED`

	selectNextPace = `SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM sandbox_paces`

	// After the lock of the order, so that the second of two instances sees the step of the first.
	selectPace = `SELECT every_seconds, stop_at FROM sandbox_paces WHERE tenant_id = $1 AND order_id = $2 AND ` + isDue + ` FOR UPDATE`

	movePace = `UPDATE sandbox_paces
SET due_at = clock_timestamp() + make_interval(secs => every_seconds) WHERE tenant_id = $1 AND order_id = $2`

	deletePace = `DELETE FROM sandbox_paces WHERE tenant_id = $1 AND order_id = $2`
)

// Due names an order whose next step is due.
type Due struct{ TenantID, OrderID string }

func queueAutoAdvance(b *pgx.Batch, o *rules.NewOrder) {
	if o.AutoAdvance == nil || o.AutoAdvance.Ends(o.Record.GetStatus()) {
		return
	}
	b.Queue(insertPace, o.TenantID, o.Record.GetId(), int64(o.AutoAdvance.Every/time.Second), enumname.String(o.AutoAdvance.Stop))
}

// DueAdvances lists up to limit orders whose next step is due, without those whose step another instance is taking.
func (s *Store) DueAdvances(ctx context.Context, limit int) ([]Due, error) {
	return postgres.Select(ctx, s.pool, "due steps", pgx.RowToStructByPos[Due], selectDuePaces, limit)
}

// NextAdvance returns the time until the next step of any order is due, and false if no order advances by itself.
func (s *Store) NextAdvance(ctx context.Context) (wait time.Duration, found bool, err error) {
	var seconds *float64
	if err := s.pool.QueryRow(ctx, selectNextPace).Scan(&seconds); err != nil {
		return 0, false, fmt.Errorf("next step: %w", err)
	}
	if seconds == nil {
		return 0, false, nil
	}
	return time.Duration(*seconds * float64(time.Second)), true, nil
}

// QueueFindAutoAdvance adds the look-up of an order's pace; into gets nil if no step is due.
func QueueFindAutoAdvance(b *pgx.Batch, tenantID, orderID string, into **rules.AutoAdvance) {
	postgres.QueueSelectFirst(b, into, func(row pgx.CollectableRow) (*rules.AutoAdvance, error) {
		p := &rules.AutoAdvance{}
		var seconds int32
		err := row.Scan(&seconds, postgres.ScanEnum(&p.Stop))
		p.Every = time.Duration(seconds) * time.Second
		return p, err
	}, selectPace, tenantID, orderID)
}

// QueueMoveAutoAdvance sets when the next step of an order is due, or ends its pace.
func QueueMoveAutoAdvance(b *pgx.Batch, tenantID, orderID string, ends bool) {
	if ends {
		b.Queue(deletePace, tenantID, orderID)
		return
	}
	b.Queue(movePace, tenantID, orderID)
}

// PostponeAdvance makes the next step of an order due one interval from now.
func (s *Store) PostponeAdvance(ctx context.Context, due Due) error {
	_, err := postgres.Exec(ctx, s.pool, "postpone step", movePace, due.TenantID, due.OrderID)
	return err
}

// EndAutoAdvance ends the pace of an order that does not exist.
func (s *Store) EndAutoAdvance(ctx context.Context, due Due) error {
	_, err := postgres.Exec(ctx, s.pool, "end steps", deletePace, due.TenantID, due.OrderID)
	return err
}
