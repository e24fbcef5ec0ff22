package store

import (
	"context"
	"errors"
	"fmt"
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
	// State; empty: any.
	State rules.State
	// Before is the last event of the page before; empty: the page begins with the newest.
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

// List returns a page of the log.
func (s *Store) List(ctx context.Context, q LogQuery) ([]Logged, error) {
	var w postgres.Where
	w.And("d.tenant_id = ? AND d.key_id = ?", q.TenantID, q.KeyID)
	if q.State != "" {
		w.And("d.state = ?", string(q.State))
	}
	if q.Before != "" {
		w.And("d.event_id < ?", q.Before)
	}
	limit := w.Arg(q.Limit)
	rows, err := s.pool.Query(ctx,
		`SELECT `+loggedColumns+loggedTables+` WHERE `+w.SQL()+` ORDER BY d.event_id DESC LIMIT `+limit, w.Args()...)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Logged, err error) { return l, row.Scan(l.columns()...) })
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return list, nil
}

// Get returns a delivery, the body that is sent, and every attempt that counted.
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
