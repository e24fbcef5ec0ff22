package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const (
	insertSteps = `INSERT INTO sandbox_claims (tenant_id, link_id, pace, stop, due_at)
SELECT $1::uuid, x.id, x.pace, x.stop, now() + x.pace FROM unnest($2::uuid[], $3::interval[], $4::text[]) AS x (id, pace, stop)`

	// Several instances share the work: each takes different steps for the time of the lease. If the clock of the database was set
	// back, no step is further away than its pace or the lease.
	takeSteps = `UPDATE sandbox_claims c SET due_at = now() + $1::interval
FROM (
  SELECT tenant_id, link_id FROM sandbox_claims
   WHERE due_at <= now() OR due_at > now() + greatest(pace, $1)
   ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
) due
WHERE c.tenant_id = due.tenant_id AND c.link_id = due.link_id
RETURNING c.tenant_id::text, c.link_id::text, coalesce(c.stop, '')`

	nextStep = `SELECT due_at - now() FROM sandbox_claims ORDER BY due_at LIMIT 1`

	moveStep = `UPDATE sandbox_claims SET due_at = now() + pace WHERE tenant_id = $1 AND link_id = $2`

	endSteps = `DELETE FROM sandbox_claims WHERE tenant_id = $1 AND link_id = $2`
)

// Step is the next step of a link that is approved and claimed by itself.
type Step struct {
	Link Name
	// Stop is the status in which the link stops; empty: once it is claimed.
	Stop string
}

// queueSteps adds the first steps of links to the transaction that makes the links.
func queueSteps(b *pgx.Batch, tenantID string, links []rules.NewLink) {
	var ids []string
	var paces []time.Duration
	var stops []*string
	for _, l := range links {
		if l.Auto != nil {
			ids, paces = append(ids, l.Record.GetId()), append(paces, l.Auto.Pace)
			stops = append(stops, postgres.Nullable(l.Auto.Stop))
		}
	}
	if len(ids) > 0 {
		b.Queue(insertSteps, tenantID, ids, paces, stops)
	}
}

// TakeSteps returns up to limit steps that are due. Each is due again after the lease, unless it was made.
func (s *Store) TakeSteps(ctx context.Context, lease time.Duration, limit int) ([]Step, error) {
	return postgres.Select(ctx, s.pool, "take steps", func(row pgx.CollectableRow) (step Step, err error) {
		return step, row.Scan(&step.Link.TenantID, &step.Link.ID, &step.Stop)
	}, takeSteps, lease, limit)
}

// NextStep returns the time until the earliest step is due. found is false if there is no step.
func (s *Store) NextStep(ctx context.Context) (wait time.Duration, found bool, err error) {
	err = s.pool.QueryRow(ctx, nextStep).Scan(&wait)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read next step: %w", err)
	}
	return wait, true, nil
}

// ApproveStep approves the link of a step. In the same transaction the next step becomes due after the pace.
func (s *Store) ApproveStep(ctx context.Context, step Step, now time.Time) error {
	var link *rules.Link
	err := postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) { s.QueueLock(b, step.Link.TenantID, step.Link.ID, &link) },
		func() (func(b *pgx.Batch), error) {
			approve := func(*pgx.Batch) {}
			if link == nil {
				return nil, ErrNotFound
			}
			changed, err := link.Approve(now)
			if err != nil {
				return nil, err
			}
			if changed {
				change := Change{Link: link, Event: rules.EventApproved, Audit: BySandbox(Approved)}
				if approve, err = s.QueueChange(ctx, change); err != nil {
					return nil, err
				}
			}
			return func(b *pgx.Batch) {
				b.Queue(moveStep, step.Link.TenantID, step.Link.ID)
				approve(b)
			}, nil
		})
	if err != nil {
		return fmt.Errorf("approve link by itself: %w", err)
	}
	return nil
}

// EndSteps deletes the step of a link, which has no further one.
func (s *Store) EndSteps(ctx context.Context, link Name) error {
	_, err := postgres.Exec(ctx, s.pool, "end steps", endSteps, link.TenantID, link.ID)
	return err
}
