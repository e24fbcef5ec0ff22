package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// KeptAttempts is how many attempts of a delivery its log keeps when it is sent again. The log would grow without end otherwise,
// because a delivery that is sent again is not deleted for being old.
const KeptAttempts = MaxShownAttempts

// maxNumber is about the highest number of an attempt. The log of a delivery that is sent again after so many begins anew.
const maxNumber = `30000`

// A resent delivery is like a new one, except that its log continues. It is also as young: failures on our side use up attempts of
// an old one.
const sendAgain = `
   SET state = 'PENDING', attempts = 0, next_attempt_at = ` + now + `, created_at = ` + now + `, finished_at = NULL,
       attempts_before = CASE WHEN d.attempts_before + d.attempts < ` + maxNumber + `
                         THEN d.attempts_before + d.attempts ELSE 1 END`

// shortenLog deletes from the logs of the resent deliveries all but the newest attempts. It keeps the attempts that show the health
// of the endpoint. Attempts with numbers that are used again are deleted too.
var shortenLog = fmt.Sprintf(`
RETURNING d.tenant_id, d.event_id, d.key_id, d.attempts_before
), success AS MATERIALIZED (
  SELECT max(a.started_at) AS at FROM attempts a WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = true
), health AS MATERIALIZED (
  SELECT at FROM success
  UNION ALL
  SELECT min(a.started_at) FROM attempts a
   WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = false
     AND a.started_at > coalesce((SELECT at FROM success), '-infinity')
  UNION ALL
  SELECT max(a.started_at) FROM attempts a WHERE a.tenant_id = $2 AND a.key_id = $3 AND (a.problem IS NULL) = false
), shortened AS (
  DELETE FROM attempts a USING resent r
   WHERE a.tenant_id = r.tenant_id AND a.event_id = r.event_id AND a.key_id = r.key_id
     AND (a.number > r.attempts_before
       OR (a.number <= r.attempts_before - %d AND NOT EXISTS (SELECT FROM health h WHERE h.at = a.started_at)))
)
SELECT event_id FROM resent`, KeptAttempts)

// The next attempt of a pending delivery is made at once, unless one is in flight. It counts as that attempt.
var resendOne = `WITH due AS (
UPDATE deliveries d SET next_attempt_at = ` + now + `
 WHERE d.tenant_id = $2 AND d.key_id = $3 AND d.event_id = $4
   AND d.state = 'PENDING' AND d.lease_token IS NULL AND d.next_attempt_at > ` + now + `
), resent AS (
UPDATE deliveries d` + sendAgain + `
 WHERE d.tenant_id = $2 AND d.key_id = $3 AND d.event_id = $4 AND d.state <> 'PENDING'` + shortenLog

// resendSpan resends deliveries in some states. It waits for locked rows, because an erasure also locks rows that stay as they are.
func resendSpan(states []rules.State) string {
	return `
WITH chosen AS (
  SELECT c.tenant_id, c.event_id, c.key_id
    FROM deliveries c
   WHERE c.tenant_id = $2 AND c.key_id = $3 AND c.event_id >= $4 AND c.event_id < $5 AND ` + stateIs("c.state", states...) + `
   ORDER BY c.event_id
   LIMIT $6
   FOR UPDATE
), resent AS (
UPDATE deliveries d` + sendAgain + `
  FROM chosen c
 WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id` + shortenLog
}

// Resend makes a finished delivery due again, and a pending one due now.
func (s *Store) Resend(ctx context.Context, e Endpoint, eventID string) error {
	if _, err := s.pool.Exec(ctx, resendOne, s.nowOverride(), e.TenantID, e.KeyID, eventID); err != nil {
		return fmt.Errorf("resend delivery: %w", err)
	}
	return nil
}

// Span selects deliveries by state and by event id, from From (inclusive) to Before (exclusive).
type Span struct {
	From, Before string
	States       []rules.State
}

// ResendSpan makes up to limit deliveries of the span due again, those of the oldest events first. It
// returns the ids of their events, not ordered.
func (s *Store) ResendSpan(ctx context.Context, e Endpoint, span Span, limit int) ([]string, error) {
	rows, err := s.pool.Query(ctx, resendSpan(span.States), s.nowOverride(), e.TenantID, e.KeyID, span.From, span.Before, limit)
	if err != nil {
		return nil, fmt.Errorf("resend deliveries: %w", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("resend deliveries: %w", err)
	}
	return events, nil
}

// retentionLock lets only one instance delete. If two instances each deleted a delivery of one event, each would still see the
// other's delivery, and the event would stay.
const retentionLock = 0x77686b32_72657465

// Attempts are deleted with their delivery. A delivery that was resent in the meantime is not finished and stays.
const deleteFinished = `
DELETE FROM deliveries d
 USING (
   SELECT f.tenant_id, f.event_id, f.key_id, f.finished_at
     FROM deliveries f
    WHERE f.finished_at >= $4 AND f.finished_at < ` + now + ` - $2::interval
    ORDER BY f.finished_at
    LIMIT $3) old
 WHERE d.tenant_id = old.tenant_id AND d.event_id = old.event_id AND d.key_id = old.key_id
   AND d.finished_at = old.finished_at
RETURNING d.tenant_id, d.event_id, d.finished_at`

// An event gets all its deliveries in the statement that inserts it, and later ones only under retentionLock, so it gets none
// while this runs. If Kafka delivered the change of a deleted event again, it would be fanned out again. That cannot happen,
// because Kafka keeps changes for a shorter time than this log.
const deleteUnneeded = `
DELETE FROM events e
 USING unnest($1::uuid[], $2::uuid[]) AS g (tenant_id, event_id)
 WHERE e.tenant_id = g.tenant_id AND e.event_id = g.event_id
   AND NOT EXISTS (
     SELECT 1 FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.event_id)`

// DeleteFinished deletes up to limit deliveries that finished longer ago than keep, oldest first, with their
// attempts and with the events that have no other deliveries. It returns how many deliveries it deleted: none while another
// instance deletes. It also returns when the last of them finished. The next call of a series begins there, because the index
// entries of deleted rows stay while an old snapshot is open.
func (s *Store) DeleteFinished(
	ctx context.Context, keep time.Duration, since time.Time, limit int,
) (deleted int, last time.Time, err error) {
	var tenants, events postgres.UUIDs
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		tenants, events, last = nil, nil, since
		var alone bool
		err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(retentionLock)).Scan(&alone)
		if err != nil || !alone {
			return err
		}
		rows, err := tx.Query(ctx, deleteFinished, s.nowOverride(), keep, limit, since)
		if err != nil {
			return err
		}
		var tenant, event string
		var finished time.Time
		_, err = pgx.ForEachRow(rows, []any{&tenant, &event, &finished}, func() error {
			if last.Before(finished) {
				last = finished
			}
			tenants, events = append(tenants, tenant), append(events, event)
			return nil
		})
		if err != nil || len(events) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, deleteUnneeded, tenants, events)
		return err
	})
	if err != nil {
		return 0, since, fmt.Errorf("delete finished deliveries: %w", err)
	}
	return len(events), last, nil
}
