package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The states of an off-boarding.
const (
	Disabled = "DISABLED"
	Erasing  = "ERASING"
	Erased   = "ERASED"
)

// Offboarded is an off-boarding that a worker holds.
type Offboarded struct {
	tenants.Tenant
	State string
	// Due means that the erasure may begin.
	Due bool
	// Counted are the services whose rows before the erasure are recorded.
	Counted []string
}

const (
	// Several instances share the work: each takes different rows. A clock that was far ahead must not stop the checks.
	takeOffboardings = `UPDATE offboardings SET next_attempt_at = clock_timestamp() + $1::interval WHERE tenant_id IN (
  SELECT tenant_id FROM offboardings
  WHERE next_attempt_at <= clock_timestamp() OR next_attempt_at > clock_timestamp() + interval '1 day'
  ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING tenant_id::text, key_ids, state, erase_after <= clock_timestamp() - $3::interval,
  ARRAY(SELECT DISTINCT service FROM offboarding_tables t WHERE t.tenant_id = offboardings.tenant_id)`

	beginErasure = `UPDATE offboardings SET state = 'ERASING', waiting_for = '{}',
  key_ids = ARRAY(SELECT unnest(key_ids) UNION SELECT id FROM api_keys WHERE tenant_id = $1)
WHERE tenant_id = $1 AND state = 'DISABLED' AND erase_after <= clock_timestamp() - $2::interval RETURNING key_ids`

	waitFor = `UPDATE offboardings SET waiting_for = $2 WHERE tenant_id = $1 AND waiting_for <> $2`

	// The first count is the one before the erasure, which a crash may interrupt.
	recordBefore = `INSERT INTO offboarding_tables (tenant_id, service, table_name, rows_before, kept)
SELECT $1, $2, name, n, kept FROM unnest($3::text[], $4::bigint[], $5::text[]) AS counted (name, n, kept)
ON CONFLICT DO NOTHING`

	// A table that a later version adds was not counted before. Its rows are those that came back.
	recordAfter = `INSERT INTO offboarding_tables AS t (tenant_id, service, table_name, rows_before, rows_after, after_at, kept)
SELECT $1, $2, name, n, n, clock_timestamp(), kept FROM unnest($3::text[], $4::bigint[], $5::text[]) AS counted (name, n, kept)
ON CONFLICT (tenant_id, service, table_name) DO UPDATE
  SET rows_after = excluded.rows_after, after_at = excluded.after_at, kept = excluded.kept`

	finishErasure = `UPDATE offboardings SET state = 'ERASED', erased_at = clock_timestamp(), checked_at = clock_timestamp()
WHERE tenant_id = $1 AND state = 'ERASING'`

	checkedErasure = `UPDATE offboardings SET checked_at = clock_timestamp() WHERE tenant_id = $1 AND state = 'ERASED'`

	tryAgain = `UPDATE offboardings SET next_attempt_at = clock_timestamp() + $2::interval WHERE tenant_id = $1`
)

// TakeOffboardings returns up to limit off-boardings that no other worker gets before the lease is over. The erasure of one is due
// by the retention clock, which lags behind the database's.
func (s *Store) TakeOffboardings(ctx context.Context, lease time.Duration, limit int, lag time.Duration) ([]Offboarded, error) {
	return postgres.Select(ctx, s.pool, "take off-boardings", func(row pgx.CollectableRow) (o Offboarded, err error) {
		return o, row.Scan(&o.ID, &o.KeyIDs, &o.State, &o.Due, &o.Counted)
	}, takeOffboardings, lease, limit, lag)
}

// BeginErasure moves a tenant from disabled to erasing and returns the ids of its keys. begun is false if the off-boarding was
// cancelled or has begun elsewhere.
func (s *Store) BeginErasure(ctx context.Context, tenantID string, lag time.Duration) (keyIDs []int32, begun bool, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockOffboarding, tenantID); err != nil {
			return fmt.Errorf("lock off-boarding: %w", err)
		}
		err := tx.QueryRow(ctx, beginErasure, tenantID, lag).Scan(&keyIDs)
		if begun = err == nil; !begun {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return fmt.Errorf("begin erasure: %w", err)
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_BEGIN_ERASURE, System())
	})
	return keyIDs, begun, err
}

// RecordWait records what the erasure waits for.
func (s *Store) RecordWait(ctx context.Context, tenantID string, what []string) error {
	return s.exec(ctx, "record what the erasure waits for", waitFor, tenantID, list(what))
}

// CountedBefore records the rows of a service before the erasure, once.
func (s *Store) CountedBefore(ctx context.Context, tenantID, service string, tables []*privacyv1.TableRows) error {
	return s.recordCounts(ctx, recordBefore, tenantID, service, tables)
}

// CountedAfter records the rows of a service after the erasure.
func (s *Store) CountedAfter(ctx context.Context, tenantID, service string, tables []*privacyv1.TableRows) error {
	return s.recordCounts(ctx, recordAfter, tenantID, service, tables)
}

func (s *Store) recordCounts(ctx context.Context, sql, tenantID, service string, tables []*privacyv1.TableRows) error {
	names, counts, kept := make([]string, len(tables)), make([]int64, len(tables)), make([]string, len(tables))
	for i, t := range tables {
		names[i], counts[i], kept[i] = t.GetTable(), t.GetRows(), t.GetKept()
	}
	return s.exec(ctx, "record counted rows", sql, tenantID, service, names, counts, kept)
}

// EraseOwn erases the tenant in this database. A concurrent change of the tenant waits for it and then finds no tenant.
func (s *Store) EraseOwn(ctx context.Context, tenant tenants.Tenant) error {
	own := TenantData(s.pool)
	return s.inTx(ctx, func(tx pgx.Tx) error {
		state, err := stateOf(ctx, tx, tenant.ID)
		if err != nil {
			return err
		}
		if state != Erasing && state != Erased {
			return ErrNotFound
		}
		if _, err := tx.Exec(ctx, lockTenant, tenant.ID); err != nil {
			return fmt.Errorf("lock tenant: %w", err)
		}
		for {
			if done, err := own.EraseIn(ctx, tx, tenant); done || err != nil {
				return err
			}
		}
	})
}

// FinishErasure records that nothing is left. It changes nothing if another worker has recorded it.
func (s *Store) FinishErasure(ctx context.Context, tenantID string) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, finishErasure, tenantID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_ERASE, System())
	})
}

// CheckedErasure records that nothing is left of an erased tenant, and whether something had come back.
func (s *Store) CheckedErasure(ctx context.Context, tenantID string, cameBack bool) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, checkedErasure, tenantID)
		if err != nil || !cameBack {
			return err
		}
		return recordStep(ctx, tx, tenantID, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_ERASE_AGAIN, System())
	})
}

// TryAgain releases an off-boarding that a worker holds until the next attempt.
func (s *Store) TryAgain(ctx context.Context, tenantID string, after time.Duration) error {
	return s.exec(ctx, "release off-boarding", tryAgain, tenantID, after)
}

func (s *Store) exec(ctx context.Context, what, sql string, args ...any) error {
	_, err := postgres.Exec(ctx, s.pool, what, sql, args...)
	return err
}

const overdueErasure = `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - CASE state
    WHEN 'ERASED' THEN checked_at + interval '1 hour' ELSE erase_after END)), 0)::float8 FROM offboardings`

// OverdueErasure is how long the erasure or check that is due longest has waited; zero or less: none is due.
func (s *Store) OverdueErasure(ctx context.Context) (time.Duration, error) {
	var seconds float64
	if err := s.pool.QueryRow(ctx, overdueErasure).Scan(&seconds); err != nil {
		return 0, fmt.Errorf("read overdue erasures: %w", err)
	}
	return max(0, time.Duration(seconds*float64(time.Second))), nil
}
