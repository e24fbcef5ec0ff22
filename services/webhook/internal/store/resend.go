package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// maxAttemptsBefore bounds the earlier attempts of a delivery, because the log cannot number many more. A
// delivery beyond it is not resent.
const maxAttemptsBefore = `30000`

// A delivery that is resent is like a new one, except that its log goes on.
const sendAgain = `
   SET state = 'PENDING', attempts = 0, attempts_before = d.attempts_before + d.attempts,
       next_attempt_at = ` + now + `, finished_at = NULL`

const resendOne = `UPDATE deliveries d` + sendAgain + `
 WHERE d.tenant_id = $2 AND d.key_id = $3 AND d.event_id = $4 AND d.state <> 'PENDING'
   AND d.attempts_before < ` + maxAttemptsBefore

// Rows that are locked are being resent or recorded already.
const resendSpan = `
WITH chosen AS (
  SELECT c.tenant_id, c.event_id, c.key_id
    FROM deliveries c
   WHERE c.tenant_id = $2 AND c.key_id = $3 AND c.event_id >= $4 AND c.event_id < $5
     AND c.state = ANY ($6::text[]) AND c.attempts_before < ` + maxAttemptsBefore + `
   ORDER BY c.event_id
   LIMIT $7
   FOR UPDATE SKIP LOCKED
)
UPDATE deliveries d` + sendAgain + `
  FROM chosen c
 WHERE d.tenant_id = c.tenant_id AND d.event_id = c.event_id AND d.key_id = c.key_id
RETURNING d.event_id`

// Resend makes a finished delivery due again. It does not change a pending one.
func (s *Store) Resend(ctx context.Context, e Endpoint, eventID string) error {
	if _, err := s.pool.Exec(ctx, resendOne, s.nowOverride(), e.TenantID, e.KeyID, eventID); err != nil {
		return fmt.Errorf("resend delivery: %w", err)
	}
	return nil
}

// Span is the deliveries with event ids from From up to but excluding Before, in the given states.
type Span struct {
	From, Before string
	States       []rules.State
}

// ResendSpan makes up to limit deliveries of the span due again, those of the oldest events first. It
// returns the ids of their events, not ordered.
func (s *Store) ResendSpan(ctx context.Context, e Endpoint, span Span, limit int) ([]string, error) {
	states := make([]string, len(span.States))
	for i, state := range span.States {
		states[i] = string(state)
	}
	rows, err := s.pool.Query(ctx, resendSpan, s.nowOverride(), e.TenantID, e.KeyID, span.From, span.Before, states, limit)
	if err != nil {
		return nil, fmt.Errorf("resend deliveries: %w", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("resend deliveries: %w", err)
	}
	return events, nil
}
