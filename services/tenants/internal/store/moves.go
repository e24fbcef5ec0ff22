package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var (
	// ErrMoving means that the tenant is being moved to another cell.
	ErrMoving = errors.New("the tenant is being moved to another cell")
	// ErrMoved means that a move cannot be cancelled any more.
	ErrMoved = errors.New("the tenant is in the new cell")
	// ErrSameCell refuses a move to where the tenant is.
	ErrSameCell = errors.New("the tenant is in this cell")
)

// Move is a move of a tenant that has not ended.
type Move struct {
	tenants.Tenant

	// Late are those of its keys that were made after the move began: the copy does not have their earlier rows.
	Late []int32
	// From and To are letters of cells.
	From, To string
	Step     tenantsv1.MoveStep
	// StepAt is when the step began, and StepAge how long ago that was. A worker that goes on with an older state of the move is
	// recognized by it.
	StepAt  time.Time
	StepAge time.Duration
}

// The steps of a move.
const (
	Copying   = tenantsv1.MoveStep_MOVE_STEP_COPYING
	Pausing   = tenantsv1.MoveStep_MOVE_STEP_PAUSING
	Switching = tenantsv1.MoveStep_MOVE_STEP_SWITCHING
	Opening   = tenantsv1.MoveStep_MOVE_STEP_OPENING
	MoveErase = tenantsv1.MoveStep_MOVE_STEP_ERASING
	MoveDone  = tenantsv1.MoveStep_MOVE_STEP_DONE
	Undoing   = tenantsv1.MoveStep_MOVE_STEP_UNDOING
	Cancelled = tenantsv1.MoveStep_MOVE_STEP_CANCELLED
)

const (
	selectTenantCell = `SELECT cell, ARRAY(SELECT id FROM api_keys WHERE tenant_id = $1 ORDER BY id) FROM tenants WHERE id = $1`

	unfinished = `step NOT IN ('DONE', 'CANCELLED')`

	isMoving = `SELECT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1 AND ` + unfinished + `)`

	// tenantSwitches is whether the tenant t is about to change its cell.
	tenantSwitches = `EXISTS (SELECT FROM tenant_moves m WHERE m.tenant_id = t.id AND m.step IN ('PAUSING', 'SWITCHING', 'OPENING'))`

	// Changes of keys would be lost while the tenant is switched.
	isSwitching = `SELECT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1 AND step IN ('PAUSING', 'SWITCHING'))`

	insertMove = `INSERT INTO tenant_moves (tenant_id, source, target, step, actor_kind, actor_id, key_ids)
VALUES ($1, $2, $3, 'COPYING', $4, $5, $6)
ON CONFLICT (tenant_id) DO UPDATE SET source = excluded.source, target = excluded.target, step = 'COPYING',
  requested_at = excluded.requested_at, actor_kind = excluded.actor_kind, actor_id = excluded.actor_id, key_ids = excluded.key_ids,
  step_at = excluded.step_at, tables = 0, tables_copied = 0, rows = 0,
  bytes = 0, lag_bytes = 0, pause = '0', problem = '', next_attempt_at = excluded.next_attempt_at`

	selectMove = `SELECT tenant_id::text, source, target, step, requested_at, actor_kind, actor_id, step_at, rows, bytes, lag_bytes,
  tables, tables_copied, (extract(epoch FROM pause) * 1000)::bigint, problem FROM tenant_moves WHERE tenant_id = $1`

	dueMoves = selectMoves + `WHERE ` + unfinished + ` AND next_attempt_at <= clock_timestamp() ORDER BY requested_at`

	stepMove = `UPDATE tenant_moves SET step = $3, step_at = clock_timestamp(), problem = '', next_attempt_at = clock_timestamp()
WHERE tenant_id = $1 AND step = $2 AND step_at = $4 RETURNING target, step_at`

	switchCell = `UPDATE tenants SET cell = $2 WHERE id = $1`

	measureMove = `UPDATE tenant_moves SET rows = $2, bytes = $3, pause = $4 WHERE tenant_id = $1`

	noteMove = `UPDATE tenant_moves SET lag_bytes = $2, tables = greatest(tables, $3), tables_copied = greatest(tables_copied, $4),
  problem = $5, next_attempt_at = clock_timestamp() + $6::interval
WHERE tenant_id = $1`

	selectOldest = `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(requested_at)), 0)::float8 FROM tenant_moves
WHERE ` + unfinished
)

// BeginMove begins to move a tenant. With check it only reports whether it would. It fails with ErrSameCell, ErrNoCell, ErrMoving
// or ErrOffboarded.
func (s *Store) BeginMove(ctx context.Context, tenantID, to string, by Authorization, check bool) (m Move, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		m = Move{Tenant: tenants.Tenant{ID: tenantID}, To: to, Step: Copying}
		state, err := stateOf(ctx, tx, tenantID)
		if err != nil {
			return err
		}
		if state != "" {
			return ErrOffboarded
		}
		if _, err := changeIn(ctx, tx, tenantID, by, func(pgx.Tx) (bool, error) { return false, nil }); err != nil {
			return err
		}
		if err := requireNot(ctx, tx, isMoving, tenantID); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, selectTenantCell, tenantID).Scan(&m.From, &m.KeyIDs); err != nil {
			return fmt.Errorf("read cell of tenant: %w", err)
		}
		if m.From == to {
			return ErrSameCell
		}
		if _, err := cellWithRoom(ctx, tx, to); err != nil || check {
			return err
		}
		if _, err := tx.Exec(ctx, insertMove, tenantID, m.From, to, enumname.String(by.Actor.GetKind()), by.Actor.GetId(),
			m.KeyIDs); err != nil {
			return fmt.Errorf("insert move: %w", err)
		}
		return recordMove(ctx, tx, m, by, Copying)
	})
	return m, translate(err)
}

// requireNot fails with ErrMoving if the query finds something of the tenant.
func requireNot(ctx context.Context, tx pgx.Tx, query, tenantID string) error {
	var found bool
	if err := tx.QueryRow(ctx, query, tenantID).Scan(&found); err != nil {
		return fmt.Errorf("find move: %w", err)
	}
	if found {
		return ErrMoving
	}
	return nil
}

// recordMove adds a step to the audit of the tenant.
func recordMove(ctx context.Context, tx pgx.Tx, m Move, by Authorization, step tenantsv1.MoveStep) error {
	a := auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_MOVE, after: map[string]any{
		"from": m.From, "to": m.To, "step": enumname.String(step),
	}}
	return a.record(ctx, tx, m.ID, "")
}

// Move returns the newest move of a tenant.
func (s *Store) Move(ctx context.Context, tenantID string) (*tenantsv1.TenantMove, error) {
	return postgres.SelectOne(ctx, s.pool, "read move", ErrNotFound, func(row pgx.CollectableRow) (*tenantsv1.TenantMove, error) {
		m := &tenantsv1.TenantMove{RequestedBy: &commonv1.Actor{}}
		return m, row.Scan(&m.TenantId, &m.From, &m.To, postgres.ScanEnum(&m.Step), postgres.ScanTime(&m.RequestedAt),
			postgres.ScanEnum(&m.RequestedBy.Kind), &m.RequestedBy.Id, postgres.ScanTime(&m.StepAt), &m.Rows, &m.Bytes, &m.LagBytes,
			&m.Tables, &m.TablesCopied, &m.PauseMs, &m.Problem)
	}, selectMove, tenantID)
}

// CancelMove ends a move before its switch. It fails with ErrMoved after it.
func (s *Store) CancelMove(ctx context.Context, tenantID string, by Authorization) (version int64, err error) {
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		found, err := postgres.Select(ctx, tx, "read move", scanMove, readAnyMove, tenantID)
		switch {
		case err != nil:
			return false, err
		case len(found) == 0:
			return false, ErrNotFound
		}
		m := found[0]
		if m.Step == Undoing || m.Step == Cancelled {
			return false, nil
		}
		if m.Step == Opening || m.Step == MoveErase || m.Step == MoveDone {
			return false, ErrMoved
		}
		if err := takeStep(ctx, tx, &m, Undoing); err != nil {
			return false, fmt.Errorf("cancel move: %w", err)
		}
		return true, recordMove(ctx, tx, m, by, Undoing)
	})
}

const (
	keysOfMove = `ARRAY(SELECT id FROM api_keys WHERE tenant_id = m.tenant_id ORDER BY id),
  ARRAY(SELECT id FROM api_keys WHERE tenant_id = m.tenant_id AND id <> ALL (m.key_ids) ORDER BY id)`

	selectMoves = `SELECT m.tenant_id::text, ` + keysOfMove + `, source, target, step, step_at,
  clock_timestamp() - step_at FROM tenant_moves m `

	readAnyMove = selectMoves + `WHERE m.tenant_id = $1 FOR UPDATE`

	selectMoveKeys = `SELECT ` + keysOfMove + ` FROM tenant_moves m WHERE m.tenant_id = $1`
)

func scanMove(row pgx.CollectableRow) (m Move, err error) {
	return m, row.Scan(&m.ID, &m.KeyIDs, &m.Late, &m.From, &m.To, postgres.ScanEnum(&m.Step), &m.StepAt, &m.StepAge)
}

// DueMoves lists the moves that a worker is to look at now.
func (s *Store) DueMoves(ctx context.Context) ([]Move, error) {
	return postgres.Select(ctx, s.pool, "list moves", scanMove, dueMoves)
}

// StepMove takes a move to its next step and returns the tenant's new version. It fails with ErrMoved if the move has taken another
// step since it was read, as when it was cancelled.
func (s *Store) StepMove(ctx context.Context, m *Move, next tenantsv1.MoveStep) (version int64, err error) {
	return s.stepMove(ctx, m, next, func(pgx.Tx) error { return nil })
}

func (s *Store) stepMove(
	ctx context.Context, m *Move, next tenantsv1.MoveStep, also func(tx pgx.Tx) error,
) (version int64, err error) {
	taken, system := *m, Authorization{Actor: System()}
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, bumpTenant, m.ID).Scan(&version); err != nil {
			return fmt.Errorf("raise version: %w", err)
		}
		if err := takeStep(ctx, tx, &taken, next); err != nil {
			return err
		}
		if err := also(tx); err != nil {
			return err
		}
		return recordMove(ctx, tx, taken, system, next)
	})
	if err != nil {
		return 0, translate(err)
	}
	*m = taken
	return version, nil
}

// takeStep changes the step of a move as it was read, else it fails with ErrMoved.
func takeStep(ctx context.Context, tx pgx.Tx, m *Move, next tenantsv1.MoveStep) error {
	err := tx.QueryRow(ctx, stepMove, m.ID, enumname.String(m.Step), enumname.String(next), m.StepAt).Scan(&m.To, &m.StepAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrMoved
	}
	if err != nil {
		return fmt.Errorf("step of move: %w", err)
	}
	m.Step, m.StepAge = next, 0
	return nil
}

// Size is that of the rows of a tenant; the bytes are those in which they are stored.
type Size struct{ Rows, Bytes int64 }

// SwitchCell records that the tenant is in the new cell.
func (s *Store) SwitchCell(ctx context.Context, m *Move, moved Size, pause time.Duration) (version int64, err error) {
	return s.stepMove(ctx, m, Opening, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, switchCell, m.ID, m.To); err != nil {
			return fmt.Errorf("change cell: %w", err)
		}
		_, err := tx.Exec(ctx, measureMove, m.ID, moved.Rows, moved.Bytes, pause)
		return err
	})
}

// Progress is that of a copy: how far it is behind in bytes of the log, how many tables it has, and how many of them are copied.
type Progress struct {
	LagBytes       int64
	Tables, Copied int
}

// NoteMove records what an operator wants to know of a move, and when a worker looks at it again.
func (s *Store) NoteMove(ctx context.Context, tenantID string, p Progress, problem string, after time.Duration) error {
	return s.exec(ctx, "note progress of move", noteMove, tenantID, p.LagBytes, p.Tables, p.Copied, problem, after)
}

// MoveKeys reads the keys of the tenant again. From PAUSING on there are no new ones.
func (s *Store) MoveKeys(ctx context.Context, m *Move) error {
	if err := s.pool.QueryRow(ctx, selectMoveKeys, m.ID).Scan(&m.KeyIDs, &m.Late); err != nil {
		return fmt.Errorf("read keys of tenant: %w", err)
	}
	return nil
}

// OldestMove is how long ago the oldest move that has not ended was requested; zero: there is none.
func (s *Store) OldestMove(ctx context.Context) (age time.Duration, err error) {
	var seconds float64
	err = s.pool.QueryRow(ctx, selectOldest).Scan(&seconds)
	return time.Duration(seconds * float64(time.Second)), err
}
