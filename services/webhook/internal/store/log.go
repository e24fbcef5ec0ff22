package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// ErrNotFound means that the key has no such delivery, or no longer has it.
var ErrNotFound = errors.New("no such delivery")

// Logged is a delivery in the log.
type Logged struct {
	EventID       string
	EventType     string
	KeyID         int32
	State         rules.State
	Attempts      int
	CreatedAt     time.Time
	NextAttemptAt *time.Time
	FinishedAt    *time.Time
}

// LoggedAttempt is one line of a delivery's log.
type LoggedAttempt struct {
	Number         int32
	StartedAt      time.Time
	DurationMS     int32
	ResponseStatus *int32
	Problem        *string
	ResponseBody   []byte
}

// LogQuery selects deliveries of an endpoint, newest event first.
type LogQuery struct {
	Endpoint
	// State is empty for any state.
	State rules.State
	// Before is the last event of the previous page; if empty, the page begins with the newest event.
	Before string
	Limit  int
}

const (
	loggedColumns = `d.event_id, e.type, d.key_id, d.state, d.attempts, d.created_at, d.next_attempt_at, d.finished_at`

	loggedTables = `
  FROM deliveries d
  JOIN events e ON e.tenant_id = d.tenant_id AND e.event_id = d.event_id`

	selectDelivery = `SELECT ` + loggedColumns + `, e.body` + loggedTables + `
 WHERE d.tenant_id = $1 AND d.key_id = $2 AND d.event_id = $3`

	selectAttempts = `
SELECT number, started_at, duration_ms, response_status, problem, response_body
  FROM attempts
 WHERE tenant_id = $1 AND key_id = $2 AND event_id = $3
 ORDER BY number`
)

func (l *Logged) columns() []any {
	return []any{&l.EventID, &l.EventType, &l.KeyID, &l.State, &l.Attempts, &l.CreatedAt, &l.NextAttemptAt, &l.FinishedAt}
}

// stateIs has the states as literals: an index with a condition on the state serves no parameter.
func stateIs(column string, states ...rules.State) string {
	quoted := make([]string, len(states))
	for i, state := range states {
		quoted[i] = "'" + string(state) + "'"
	}
	return column + " IN (" + strings.Join(quoted, ", ") + ")"
}

// List returns a page of the log.
func (s *Store) List(ctx context.Context, q LogQuery) ([]Logged, error) {
	sql, args := q.statement()
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Logged, err error) { return l, row.Scan(l.columns()...) })
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return list, nil
}

func (q LogQuery) statement() (sql string, args []any) {
	var w postgres.Where
	w.And("d.tenant_id = ? AND d.key_id = ?", q.TenantID, q.KeyID)
	if q.State != "" {
		w.And(stateIs("d.state", q.State))
	}
	if q.Before != "" {
		w.And("d.event_id < ?", q.Before)
	}
	limit := w.Arg(q.Limit)
	return `SELECT ` + loggedColumns + loggedTables + ` WHERE ` + w.SQL() + ` ORDER BY d.event_id DESC LIMIT ` + limit, w.Args()
}

// Get returns a delivery, its body, and every attempt that counted.
func (s *Store) Get(ctx context.Context, e Endpoint, eventID string) (l Logged, body []byte, attempts []LoggedAttempt, err error) {
	b := &pgx.Batch{}
	b.Queue(selectDelivery, e.TenantID, e.KeyID, eventID).QueryRow(func(row pgx.Row) error {
		return row.Scan(append(l.columns(), &body)...)
	})
	b.Queue(selectAttempts, e.TenantID, e.KeyID, eventID).Query(func(rows pgx.Rows) (err error) {
		attempts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[LoggedAttempt])
		return err
	})
	err = s.pool.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return l, nil, nil, ErrNotFound
	}
	if err != nil {
		return l, nil, nil, fmt.Errorf("get delivery: %w", err)
	}
	return l, body, attempts, nil
}

// MaxCounted is how many deliveries of a backlog are counted at most.
const MaxCounted = 100_000

// Backlog summarizes the deliveries that wait for one key.
type Backlog struct {
	KeyID int32
	// Pending is exact below MaxCounted; MaxCounted means that many or more.
	Pending         int32
	OldestCreatedAt time.Time
	NextAttemptAt   time.Time
	PausedUntil     *time.Time
}

// The recursion skips from key to key in deliveries_due.
const selectBacklog = `
WITH RECURSIVE key AS (
  (SELECT d.key_id FROM deliveries d WHERE d.state = 'PENDING' AND d.tenant_id = $2 ORDER BY d.key_id LIMIT 1)
  UNION ALL
  SELECT n.key_id
    FROM key k
   CROSS JOIN LATERAL (
     SELECT d.key_id FROM deliveries d
      WHERE d.state = 'PENDING' AND d.tenant_id = $2 AND d.key_id > k.key_id
      ORDER BY d.key_id LIMIT 1) n
)
SELECT k.key_id, waiting.pending, waiting.oldest, waiting.next, p.until
  FROM key k
 CROSS JOIN LATERAL (
   SELECT count(*)::int AS pending, min(w.created_at) AS oldest, min(w.next_attempt_at) AS next
     FROM (SELECT d.created_at, d.next_attempt_at FROM deliveries d
            WHERE d.state = 'PENDING' AND d.tenant_id = $2 AND d.key_id = k.key_id
            ORDER BY d.next_attempt_at LIMIT $3) w) waiting
  LEFT JOIN pauses p ON p.tenant_id = $2 AND p.key_id = k.key_id AND p.until > ` + now + `
 WHERE waiting.pending > 0
 ORDER BY k.key_id`

// Backlog returns the waiting deliveries for each key of a tenant.
func (s *Store) Backlog(ctx context.Context, tenantID string) ([]Backlog, error) {
	rows, err := s.pool.Query(ctx, selectBacklog, s.nowOverride(), tenantID, MaxCounted)
	if err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Backlog])
	if err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	return list, nil
}

// Waiting is a summary of all deliveries that are not finished.
type Waiting struct {
	// Deliveries is exact below MaxCounted; MaxCounted means that many or more.
	Deliveries int64
	// Oldest is the age of the oldest counted delivery.
	Oldest time.Duration
	// Due is the longest time that a delivery has been due. It leaves out endpoints that are held back or paused, have a request in
	// flight or are given as impaired, because a slow receiver is not a problem of the platform.
	Due time.Duration
}

// The count follows the order of the index and reads no finished rows. The endpoints are those of the counted rows and, beyond
// MaxCounted, those that a search finds after them.
var selectWaiting = `
WITH RECURSIVE counted AS MATERIALIZED (
  SELECT d.tenant_id, d.key_id, d.next_attempt_at, d.created_at
    FROM deliveries d
   WHERE d.state = 'PENDING'
   ORDER BY d.tenant_id, d.key_id, d.next_attempt_at
   LIMIT $2
), ` + heads(`
   SELECT c.tenant_id, c.key_id, c.next_attempt_at FROM counted c OFFSET $2 - 1`) + `, endpoint AS (
  SELECT h.tenant_id, h.key_id, min(h.next_attempt_at) AS next_attempt_at
    FROM (SELECT c.tenant_id, c.key_id, c.next_attempt_at FROM counted c UNION ALL TABLE head) h
   GROUP BY h.tenant_id, h.key_id
)
SELECT count(*), greatest(interval '0', coalesce(` + now + ` - min(c.created_at), interval '0')),
       coalesce((
         SELECT max(` + now + ` - e.next_attempt_at)
           FROM endpoint e
          WHERE e.next_attempt_at <= ` + now + ` AND ` + notHeld("e.tenant_id") + `
            AND NOT EXISTS (SELECT FROM senders s CROSS JOIN LATERAL (` + leasedBy("s.id", "e", "1") + `) lease)
            AND NOT EXISTS (
              SELECT FROM pauses p
               WHERE p.tenant_id = e.tenant_id AND p.key_id = e.key_id AND p.until > ` + now + `)
            AND (e.tenant_id, e.key_id) NOT IN (
              SELECT tenant_id, key_id FROM unnest($3::uuid[], $4::int[]) AS i (tenant_id, key_id))
       ), interval '0')
  FROM counted c`

// Waiting counts the deliveries that are not finished. The impaired endpoints are slow or do not answer.
func (s *Store) Waiting(ctx context.Context, impaired []Endpoint) (w Waiting, err error) {
	tenants, keys := endpointColumns(impaired)
	row := s.pool.QueryRow(ctx, selectWaiting, s.nowOverride(), MaxCounted, tenants, keys)
	if err := row.Scan(&w.Deliveries, &w.Oldest, &w.Due); err != nil {
		return w, fmt.Errorf("count waiting deliveries: %w", err)
	}
	return w, nil
}
