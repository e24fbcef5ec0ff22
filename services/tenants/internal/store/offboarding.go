package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The reasons why an off-boarding refuses a change.
var (
	// ErrOffboarded means that the tenant is being off-boarded or was.
	ErrOffboarded = errors.New("the tenant is off-boarded")
	// ErrErasing means that the erasure has begun.
	ErrErasing = errors.New("the erasure of the tenant has begun")
)

const (
	// Held by every transaction that puts a tenant or changes its off-boarding: otherwise one that puts the tenant could switch its
	// access on again, or insert it again after the erasure.
	lockOffboarding = `SELECT pg_advisory_xact_lock(hashtextextended('offboarding/' || $1, 0))`

	selectState = `SELECT state FROM offboardings WHERE tenant_id = $1`

	insertOffboarding = `INSERT INTO offboardings (tenant_id, state, erase_after, actor_kind, actor_id, api_access, key_ids)
SELECT t.id, 'DISABLED', clock_timestamp() + $2::interval, $3, $4, t.api_access,
  ARRAY(SELECT id FROM api_keys WHERE tenant_id = t.id)
FROM tenants t WHERE t.id = $1`

	disableTenant = `UPDATE tenants SET api_access = false, version = version + 1 WHERE id = $1 RETURNING version`

	enableTenant = `UPDATE tenants t SET api_access = o.api_access, version = version + 1 FROM offboardings o
WHERE t.id = $1 AND o.tenant_id = $1 RETURNING version`

	deleteOffboarding = `DELETE FROM offboardings WHERE tenant_id = $1`

	insertStep = `INSERT INTO offboarding_steps (tenant_id, action, actor_kind, actor_id) VALUES ($1, $2, $3, $4)`
)

// stateOf returns the state of a tenant's off-boarding; empty: there is none. It holds the lock until the transaction ends.
func stateOf(ctx context.Context, tx pgx.Tx, tenantID string) (state string, err error) {
	if _, err := tx.Exec(ctx, lockOffboarding, tenantID); err != nil {
		return "", fmt.Errorf("lock off-boarding: %w", err)
	}
	err = tx.QueryRow(ctx, selectState, tenantID).Scan(&state)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return state, err
}

// System is the actor of what the platform does.
func System() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
}

func recordStep(ctx context.Context, tx pgx.Tx, tenantID string, action tenantsv1.OffboardingAction, by *commonv1.Actor) error {
	_, err := postgres.Exec(ctx, tx, "record step", insertStep,
		tenantID, enumname.String(action), enumname.String(by.GetKind()), by.GetId())
	return err
}

// Offboard disables a tenant and schedules its erasure. It does not change an off-boarding that exists. The version is zero if
// the tenant is erased.
func (s *Store) Offboard(ctx context.Context, tenantID string, by *commonv1.Actor, grace time.Duration) (version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		version = 0
		state, err := stateOf(ctx, tx, tenantID)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, lockTenant, tenantID).Scan(&version)
		if state != "" && (err == nil || errors.Is(err, pgx.ErrNoRows)) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock tenant: %w", err)
		}
		if err := requireNot(ctx, tx, isMoving, tenantID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertOffboarding, tenantID, grace, enumname.String(by.GetKind()), by.GetId()); err != nil {
			return fmt.Errorf("insert off-boarding: %w", err)
		}
		if err := tx.QueryRow(ctx, disableTenant, tenantID).Scan(&version); err != nil {
			return fmt.Errorf("disable tenant: %w", err)
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_REQUEST, by)
	})
	return version, translate(err)
}

// CancelOffboarding gives the tenant its access back. It fails with ErrErasing once the erasure has begun.
func (s *Store) CancelOffboarding(ctx context.Context, tenantID string, by *commonv1.Actor) (version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		state, err := stateOf(ctx, tx, tenantID)
		switch {
		case err != nil:
			return err
		case state == "":
			return ErrNotFound
		case state != Disabled:
			return ErrErasing
		}
		if err := tx.QueryRow(ctx, enableTenant, tenantID).Scan(&version); err != nil {
			return fmt.Errorf("enable tenant: %w", err)
		}
		if _, err := tx.Exec(ctx, deleteOffboarding, tenantID); err != nil {
			return fmt.Errorf("delete off-boarding: %w", err)
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_CANCEL, by)
	})
	return version, translate(err)
}

const (
	selectKeyIDs = `SELECT id FROM api_keys WHERE tenant_id = $1`

	selectExporting = `SELECT EXISTS (SELECT FROM offboarding_steps WHERE tenant_id = $1 AND action = 'EXPORT'
  AND actor_kind = $2 AND actor_id = $3 AND at > clock_timestamp() - interval '1 day')`
)

// BeginExport returns the ids of the tenant's keys and records who exports, at the first page. At another page it records the actor
// unless it did so within a day: a cursor does not prove that the actor has read the first page. It fails with ErrErasing once the
// erasure has begun.
func (s *Store) BeginExport(ctx context.Context, tenantID string, by *commonv1.Actor, first bool) (keyIDs []int32, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		var version int64
		state, err := stateOf(ctx, tx, tenantID)
		if err != nil {
			return err
		}
		if state != "" && state != Disabled {
			return ErrErasing
		}
		if err := tx.QueryRow(ctx, lockTenant, tenantID).Scan(&version); err != nil {
			return fmt.Errorf("lock tenant: %w", err)
		}
		if keyIDs, err = postgres.Select(ctx, tx, "list keys", pgx.RowTo[int32], selectKeyIDs, tenantID); err != nil {
			return err
		}
		recorded := false
		if !first {
			err := tx.QueryRow(ctx, selectExporting, tenantID, enumname.String(by.GetKind()), by.GetId()).Scan(&recorded)
			if err != nil {
				return fmt.Errorf("find step: %w", err)
			}
		}
		if recorded {
			return nil
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_EXPORT, by)
	})
	return keyIDs, translate(err)
}

const (
	selectOffboarding = `
SELECT tenant_id::text, state, requested_at, erase_after, actor_kind, actor_id, erased_at, checked_at, waiting_for
FROM offboardings WHERE tenant_id = $1`
	selectReport = `SELECT service, table_name, rows_before, rows_after, before_at, after_at, kept FROM offboarding_tables
WHERE tenant_id = $1 ORDER BY service, table_name`
	selectSteps = `SELECT at, action, actor_kind, actor_id FROM offboarding_steps WHERE tenant_id = $1 ORDER BY id`
)

// Offboarding returns the off-boarding of a tenant with its report.
func (s *Store) Offboarding(ctx context.Context, tenantID string) (*tenantsv1.Offboarding, error) {
	o := &tenantsv1.Offboarding{RequestedBy: &commonv1.Actor{}}
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		b.Queue(selectOffboarding, tenantID).QueryRow(func(row pgx.Row) error {
			return row.Scan(&o.TenantId, postgres.ScanEnum(&o.State), postgres.ScanTime(&o.RequestedAt), postgres.ScanTime(&o.EraseAfter),
				postgres.ScanEnum(&o.RequestedBy.Kind), &o.RequestedBy.Id, postgres.ScanTime(&o.ErasedAt), postgres.ScanTime(&o.CheckedAt),
				&o.WaitingFor)
		})
		postgres.QueueSelect(b, &o.Report, func(row pgx.CollectableRow) (*tenantsv1.ErasedTable, error) {
			t := &tenantsv1.ErasedTable{}
			return t, row.Scan(&t.Service, &t.Table, &t.RowsBefore, &t.RowsAfter,
				postgres.ScanTime(&t.CountedBeforeAt), postgres.ScanTime(&t.CountedAfterAt), &t.Kept)
		}, selectReport, tenantID)
		postgres.QueueSelect(b, &o.Steps, func(row pgx.CollectableRow) (*tenantsv1.OffboardingStep, error) {
			step := &tenantsv1.OffboardingStep{Actor: &commonv1.Actor{}}
			return step, row.Scan(postgres.ScanTime(&step.At), postgres.ScanEnum(&step.Action),
				postgres.ScanEnum(&step.Actor.Kind), &step.Actor.Id)
		}, selectSteps, tenantID)
	})
	if err != nil {
		return nil, translate(fmt.Errorf("read off-boarding: %w", err))
	}
	return o, nil
}
