package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

const (
	// MaxShownAttempts is how many attempts of a delivery are shown: one for each that counts until it is sent again.
	MaxShownAttempts = rules.MaxAttempts

	// maxScan bounds how many deliveries one page reads.
	maxScan = 10_000
)

// Visibility is what a key may see of its deliveries. A key may have lost scopes or brands since they were stored.
type Visibility struct {
	// Types of events; nil for all.
	Types []string
	// Brands of the events' records; nil for all.
	Brands []string
}

// KeyLogQuery selects deliveries of an endpoint, newest event first.
type KeyLogQuery struct {
	Endpoint
	Visibility Visibility
	// State is empty for any state.
	State rules.State
	// Type and EventID are nil for any.
	Type, EventID *string
	// Since is the lowest id of an event; empty for any.
	Since string
	// Before is where the previous page ended; if empty, the page begins with the newest event.
	Before string
	Limit  int
}

// KeyLogPage is a page of the log.
type KeyLogPage struct {
	Deliveries []KeyLogEntry
	// Next is where the page ends; empty if it is the last.
	Next string
}

// KeyLogEntry is a delivery with its last attempts, oldest first.
type KeyLogEntry struct {
	EventID   string
	EventType string
	// EnvelopeHead is the beginning of the event's envelope.
	EnvelopeHead  []byte
	State         rules.State
	NextAttemptAt *time.Time
	Attempts      []LoggedAttempt
}

// readAttempts reads the last attempts of a delivery p.
const readAttempts = `
  SELECT a.number, a.started_at, a.duration_ms, a.response_status, a.problem, a.response_body
    FROM attempts a
   WHERE a.tenant_id = $1 AND a.key_id = $2 AND a.event_id = p.event_id
   ORDER BY a.number DESC
   LIMIT %d`

// The page stops reading when it is full. The second part reads on only if it is not, and returns where it has to end. An event
// is looked up for each delivery that is read: a join could read all events of the tenant.
const readPage = `page AS MATERIALIZED (
  SELECT d.event_id, d.state, d.next_attempt_at, e.type, e.head
    FROM (%[1]s LIMIT %[2]d) d
   CROSS JOIN LATERAL (
     SELECT e.type, e.brand_id, substring(e.body FROM 1 FOR %[3]d) AS head FROM events e
      WHERE e.tenant_id = $1 AND e.event_id = d.event_id LIMIT 1) e
   WHERE %[4]s
   ORDER BY d.event_id DESC
   LIMIT %[5]s
)
SELECT p.event_id, p.type, p.head, p.state, p.next_attempt_at,
       a.number, a.started_at, a.duration_ms, a.response_status, a.problem, a.response_body
  FROM page p
  LEFT JOIN LATERAL (%[6]s) a ON true
UNION ALL
SELECT d.event_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM (%[1]s OFFSET %[2]d - 1 LIMIT 1) d
 WHERE (SELECT count(*) FROM page) < %[5]s
 ORDER BY event_id DESC, number`

// readWaiting finds the pending deliveries without the others.
const readWaiting = `waiting AS MATERIALIZED (
  SELECT d.tenant_id, d.key_id, d.event_id, d.state, d.next_attempt_at
    FROM deliveries d
   WHERE d.tenant_id = $1 AND d.key_id = $2 AND d.state = 'PENDING'
   ORDER BY d.next_attempt_at
), `

const countWaiting = `SELECT count(*) FROM (
  SELECT FROM deliveries d WHERE d.tenant_id = $1 AND d.key_id = $2 AND d.state = 'PENDING' LIMIT $3) w`

// KeyLog returns a page of the log. A page reads a bounded number of deliveries, so it may have few, or none, although more follow:
//
//   - Those that failed or were dropped are found in deliveries_ended.
//   - Those that are pending are found in deliveries_due, if they are at most maxScan. If they are more, they are not rare among
//     all deliveries.
//   - All others are found in deliveries_of_key, in the order of the list. What does not match is passed over.
func (s *Store) KeyLog(ctx context.Context, q KeyLogQuery) (page KeyLogPage, err error) {
	few := false
	if q.State == rules.Pending {
		var waiting int
		if err := s.pool.QueryRow(ctx, countWaiting, q.TenantID, q.KeyID, maxScan+1).Scan(&waiting); err != nil {
			return page, fmt.Errorf("count waiting deliveries of key: %w", err)
		}
		few = waiting <= maxScan
	}
	sql, args := keyLogStatement(q, few)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err == nil {
		page, err = keyLogPage(rows, q.Limit)
	}
	if err != nil {
		return KeyLogPage{}, fmt.Errorf("read log of key: %w", err)
	}
	return page, nil
}

// keyLogStatement selects one delivery more than the limit, which shows whether there is another page. few means that there are
// few pending deliveries.
func keyLogStatement(q KeyLogQuery, few bool) (sql string, args []any) {
	var w postgres.Where
	w.And("d.tenant_id = ? AND d.key_id = ?", q.TenantID, q.KeyID)
	w.Equal("d.event_id", q.EventID)
	if q.Since != "" {
		w.And("d.event_id >= ?", q.Since)
	}
	if q.Before != "" {
		w.And("d.event_id < ?", q.Before)
	}
	with, from, shown := "WITH ", "deliveries", "true"
	switch {
	case q.State == rules.Failed:
		w.And("d.state = 'FAILED'")
	case q.State == rules.Dropped:
		w.And("d.state = 'DROPPED'")
	case q.State == rules.Delivered:
		shown = "d.state = 'DELIVERED'"
	case q.State == rules.Pending && few:
		with, from = with+readWaiting, "waiting"
	case q.State == rules.Pending:
		shown = "d.state = 'PENDING'"
	}
	if q.Type != nil {
		shown += " AND e.type = " + w.Arg(*q.Type)
	}
	if q.Visibility.Types != nil {
		shown += " AND e.type = ANY (" + w.Arg(q.Visibility.Types) + "::text[])"
	}
	if q.Visibility.Brands != nil {
		shown += " AND e.brand_id = ANY (" + w.Arg(q.Visibility.Brands) + "::uuid[])"
	}
	scan := `SELECT d.event_id, d.state, d.next_attempt_at FROM ` + from + ` d WHERE ` + w.SQL() + ` ORDER BY d.event_id DESC`
	limit := w.Arg(q.Limit + 1)
	attempts := fmt.Sprintf(readAttempts, MaxShownAttempts)
	return with + fmt.Sprintf(readPage, scan, maxScan, rules.EnvelopeHead, shown, limit, attempts), w.Args()
}

// keyLogRow is a delivery with one of its attempts, or with none. Without a type, it is where the page ends.
type keyLogRow struct {
	EventID       string
	EventType     *string
	EnvelopeHead  []byte
	State         *rules.State
	NextAttemptAt *time.Time
	Number        *int32
	StartedAt     *time.Time
	DurationMS    *int32
	Status        *int32
	Problem       *string
	ResponseBody  []byte
}

func keyLogPage(rows pgx.Rows, limit int) (page KeyLogPage, err error) {
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[keyLogRow])
	if err != nil {
		return page, err
	}
	for _, r := range found {
		if r.EventType == nil {
			page.Next = r.EventID
			continue
		}
		if last := len(page.Deliveries) - 1; last < 0 || page.Deliveries[last].EventID != r.EventID {
			page.Deliveries = append(page.Deliveries, KeyLogEntry{
				EventID: r.EventID, EventType: *r.EventType, EnvelopeHead: r.EnvelopeHead, State: *r.State, NextAttemptAt: r.NextAttemptAt,
			})
		}
		if r.Number != nil {
			d := &page.Deliveries[len(page.Deliveries)-1]
			d.Attempts = append(d.Attempts, LoggedAttempt{
				Number: *r.Number, StartedAt: *r.StartedAt, DurationMS: *r.DurationMS,
				ResponseStatus: r.Status, Problem: r.Problem, ResponseBody: r.ResponseBody,
			})
		}
	}
	if len(page.Deliveries) > limit {
		page.Deliveries = page.Deliveries[:limit]
		page.Next = page.Deliveries[limit-1].EventID
	}
	return page, nil
}
