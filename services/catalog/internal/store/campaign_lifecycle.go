package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	lockCampaign = `SELECT ` + statusNow + `, coalesce(c.expires_at <= catalog_now(), false)
FROM campaigns c WHERE c.tenant_id = $1 AND c.id = $2 FOR UPDATE`

	setCampaignStatus = `UPDATE campaigns SET status = $3 WHERE tenant_id = $1 AND id = $2`

	// SKIP LOCKED: a campaign that is being changed is completed at the next tick.
	completeExpired = `WITH due AS (
  SELECT tenant_id, id FROM campaigns WHERE status = 'ACTIVE' AND expires_at <= catalog_now()
  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
), completed AS (
  UPDATE campaigns c SET status = 'COMPLETED' FROM due WHERE c.tenant_id = due.tenant_id AND c.id = due.id RETURNING c.id
)
INSERT INTO catalog_audit (id, actor_kind, actor_id, action, subject_id, detail)
SELECT gen_random_uuid(), 'SYSTEM', '', 'campaign.expire', id, '{}' FROM completed`
)

// StartCampaign opens a campaign for orders.
func (s *Store) StartCampaign(ctx context.Context, tenantID string, act Act) error {
	return s.inCampaign(ctx, tenantID, act, func(tx pgx.Tx, status string, due bool) (changed bool, err error) {
		start, err := rules.CheckStart(status, due)
		if err != nil || !start {
			return false, err
		}
		_, err = tx.Exec(ctx, setCampaignStatus, tenantID, act.Subject, rules.CampaignActive)
		return true, err
	})
}

// CompleteCampaign ends a campaign for orders.
func (s *Store) CompleteCampaign(ctx context.Context, tenantID string, act Act) error {
	return s.inCampaign(ctx, tenantID, act, func(tx pgx.Tx, status string, _ bool) (changed bool, err error) {
		if status == rules.CampaignCompleted {
			return false, nil
		}
		_, err = tx.Exec(ctx, setCampaignStatus, tenantID, act.Subject, rules.CampaignCompleted)
		return true, err
	})
}

// inCampaign runs work on the campaign that the act names, as the only change of the catalog, and records
// the act if work changed anything. due: the campaign's expiry has passed.
func (s *Store) inCampaign(
	ctx context.Context, tenantID string, act Act, work func(tx pgx.Tx, status string, due bool) (changed bool, err error),
) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		var status string
		var due bool
		err := tx.QueryRow(ctx, lockCampaign, tenantID, act.Subject).Scan(&status, &due)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.RecordNotFound()
		}
		if err != nil {
			return fmt.Errorf("lock campaign: %w", err)
		}
		changed, err := work(tx, status, due)
		if err != nil || !changed {
			return err
		}
		return act.record(ctx, tx)
	})
}

// CompleteExpired records that campaigns have completed at their expiry, and returns how many. Reads do
// not depend on it. A recorded campaign stays completed when its expiry is moved.
func (s *Store) CompleteExpired(ctx context.Context, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, completeExpired, limit)
	if err != nil {
		return 0, fmt.Errorf("complete expired campaigns: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// statusNow is the status of campaign c now: from expires_at on, an active one has completed, recorded or
// not. The clock of the database decides, so that all instances of the service agree.
const statusNow = `CASE WHEN c.status = 'ACTIVE' AND c.expires_at <= catalog_now() THEN 'COMPLETED' ELSE c.status END`
