package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	// One connection is for batches and one for confirming; the third is for reconnecting.
	sourceConns      = 3
	connectTimeout   = 3 * time.Second
	statementTimeout = "10000"

	columns = `id, recorded_at, event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent`

	// No index but the primary key can serve a query with this condition.
	unconfirmed = `coalesce(confirmed_at, 'infinity') = 'infinity'`

	// tickColumns is how many columns readRows returns before those of a row.
	tickColumns = 4

	// The clock is read after the snapshot of the rows was taken, so no row of the result was recorded later. A transaction begins
	// only on request, because it uses up an id and writes to the log. Late rows, in the gaps of the window, come before the others.
	// OFFSET makes each gap a range of the primary key. Without rows, the result has one line with the clock.
	readRows = `WITH tick AS MATERIALIZED (
  SELECT clock_timestamp(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    CASE WHEN $5 THEN pg_current_xact_id()::text::bigint ELSE 0 END,
    coalesce(CASE WHEN has_sequence_privilege(ids, 'SELECT') THEN pg_sequence_last_value(ids) END, 0)
  FROM CAST(pg_get_serial_sequence('outbox', 'id') AS regclass) AS ids
)
SELECT tick.*, rows.* FROM tick LEFT JOIN (
  SELECT ` + columns + `
  FROM (
    SELECT o.* FROM unnest($3::bigint[], $4::bigint[]) AS gap (first, last)
     CROSS JOIN LATERAL (SELECT * FROM outbox WHERE id BETWEEN gap.first AND gap.last AND ` + unconfirmed + ` OFFSET 0) o
    UNION ALL
    (SELECT * FROM outbox WHERE id > $1 AND ` + unconfirmed + ` ORDER BY id LIMIT $2)
  ) r
  ORDER BY id
  LIMIT $2
) rows ON true
ORDER BY id`

	readClock = `SELECT clock_timestamp()`

	// The earliest of the rows that a full read has left. Those that are published already are in no gap of the window. The time only
	// saves reading most of them.
	readUnread = `SELECT id, recorded_at FROM outbox
WHERE id > $1 AND recorded_at > $2 AND confirmed_at IS NULL
  AND (id > $3 OR EXISTS (
    SELECT FROM unnest($4::bigint[], $5::bigint[]) AS gap (first, last) WHERE id BETWEEN gap.first AND gap.last))
ORDER BY recorded_at LIMIT 1`

	// After the database was restored, an id may belong to another event. A join with pairs of both could read the whole index.
	confirmedRows = ` WHERE id = ANY($1) AND event_id = ANY($2)`

	deleteRows  = `DELETE FROM outbox` + confirmedRows
	confirmRows = `UPDATE outbox SET confirmed_at = now()` + confirmedRows

	// Rows are confirmed almost in the order of their ids, so only the first ones are looked at. A row that was confirmed while the
	// database's clock was ahead would hold up the others, so it gets the present time. The retention clock does not jump ahead.
	deleteOldRows = `WITH oldest AS (SELECT id, confirmed_at FROM outbox WHERE confirmed_at IS NOT NULL ORDER BY id LIMIT $2),
ahead AS (UPDATE outbox SET confirmed_at = now() WHERE id IN (SELECT id FROM oldest WHERE confirmed_at > now()))
DELETE FROM outbox WHERE id IN (SELECT id FROM oldest WHERE confirmed_at < (SELECT at FROM retention_clock) - $1::interval)`

	// readServer identifies the server and the table. They differ after a restart, a fail-over and a restore, and only then may
	// the table have gone back to an earlier state.
	readServer = `SELECT concat(inet_server_addr(), ':', inet_server_port(), ' ', pg_postmaster_start_time()),
  concat(d.oid, ' ', 'outbox'::regclass::oid) FROM pg_database d WHERE d.datname = current_database()`
)

// row is an outbox row.
type row struct {
	id         int64
	recordedAt time.Time
	change     *eventsv1.Change
}

// source is one outbox. Its statements are prepared on first use of a connection.
type source struct {
	name string
	pool *pgxpool.Pool
	// server is that of the newest connection.
	server atomic.Pointer[server]
}

// server identifies a database server since its start, and the table in it.
type server struct{ instance, table string }

// tick is what a source says of itself when it is read.
type tick struct {
	// asked and answered enclose the reading of the clock, by the relay's own.
	asked, answered time.Time
	clock           time.Time
	server          *server
	// oldest is the oldest running transaction, begun a new one; zero if none was requested.
	oldest, begun int64
	// newest is the last id that was handed out; zero if it is not known.
	newest int64
}

// reading is what a source returned for a batch.
type reading struct {
	// rows are in the order of id. Within a source this is the order of the changes: if one was answered before another was
	// requested, its id was taken earlier.
	rows []row
	// full means that there may be more rows. unread is the earliest of them, without its change; its id is zero if there is none.
	full   bool
	unread row
	tick
}

// openSource does not connect: a source may be down when the relay starts.
func openSource(ctx context.Context, s Source, tel *telemetry.Telemetry) (*source, error) {
	cfg, err := pgxpool.ParseConfig(s.URL)
	if err != nil {
		return nil, fmt.Errorf("url of source %s: %w", s.Name, err)
	}
	cfg.MaxConns = sourceConns
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	cfg.ConnConfig.RuntimeParams["statement_timeout"] = statementTimeout
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	// Reads follow the primary key from the low end of their window. Each plan is kept, because planning takes longer than reading a
	// few rows.
	postgres.ByIndex(cfg)
	postgres.PlanOnce(cfg)
	postgres.NoticeLostServers(cfg)
	cfg.ConnConfig.RuntimeParams["jit"] = "off"
	opened := &source{name: s.Name}
	cfg.AfterConnect = opened.identify
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open source %s: %w", s.Name, err)
	}
	if err := postgres.Measure(pool, "outbox/"+s.Name, tel); err != nil {
		pool.Close()
		return nil, err
	}
	opened.pool = pool
	return opened, nil
}

// identify notes the server of a new connection.
func (s *source) identify(ctx context.Context, conn *pgx.Conn) error {
	var found server
	if err := conn.QueryRow(ctx, readServer).Scan(&found.instance, &found.table); err != nil {
		return fmt.Errorf("identify the server of source %s: %w", s.name, err)
	}
	if known := s.server.Load(); known == nil || *known != found {
		s.server.Store(&found)
	}
	return nil
}

// read returns the visible rows of the window with the lowest ids, among all that were committed before the call.
func (s *source) read(ctx context.Context, now func() time.Time, w *window, limit int) (reading, error) {
	first, last := w.ranges()
	r := reading{tick: tick{asked: now()}}
	if err := r.collect(s.pool.Query(ctx, readRows, w.low, limit, first, last, w.hasOpenGap())); err != nil {
		return reading{}, fmt.Errorf("read source %s: %w", s.name, err)
	}
	r.answered, r.server, r.full = now(), s.server.Load(), len(r.rows) == limit
	return r, nil
}

// collect reads the lines of a result: the columns of the tick, which are the same in all, and those of a row, if there is one.
func (r *reading) collect(lines pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	defer lines.Close()
	for lines.Next() {
		into := make([]any, len(lines.FieldDescriptions()))
		if r.clock.IsZero() {
			copy(into, []any{&r.clock, &r.oldest, &r.begun, &r.newest})
		}
		if lines.RawValues()[tickColumns] == nil {
			return errors.Join(lines.Scan(into...), lines.Err())
		}
		found, err := scanRow(lines, into[:tickColumns])
		if err != nil {
			return err
		}
		r.rows = append(r.rows, found)
	}
	return lines.Err()
}

// readClock reads the clock only.
func (s *source) readClock(ctx context.Context, now func() time.Time) (tick, error) {
	t := tick{asked: now()}
	if err := s.pool.QueryRow(ctx, readClock).Scan(&t.clock); err != nil {
		return t, fmt.Errorf("clock of source %s: %w", s.name, err)
	}
	t.answered, t.server = now(), s.server.Load()
	return t, nil
}

// longestTransaction is longer than between the recording of a change and the end of its transaction.
const longestTransaction = 30 * time.Second

// readUnread reads the earliest row after a full reading.
func (s *source) readUnread(ctx context.Context, w *window, r *reading) error {
	if !r.full {
		return nil
	}
	first, last := w.ranges()
	since := w.published.Add(-longestTransaction)
	err := s.pool.QueryRow(ctx, readUnread, r.rows[len(r.rows)-1].id, since, w.low, first, last).
		Scan(&r.unread.id, &r.unread.recordedAt)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read source %s: %w", s.name, err)
	}
	return nil
}

// scanRow reads an outbox row with other columns before its own.
func scanRow(c pgx.CollectableRow, before []any) (row, error) {
	e := &eventsv1.Change{}
	r := row{change: e}
	var occurredAt time.Time
	err := c.Scan(append(before[:len(before):len(before)], &r.id, &r.recordedAt, &e.EventId, &e.TenantId, &e.BrandId, &e.SubjectId,
		&e.Type, &e.OriginKeyId, &occurredAt, &e.Data, &e.Traceparent)...)
	e.OccurredAt = timestamppb.New(occurredAt)
	return r, err
}

// confirm deletes rows that all readers have stored, or only marks them if they are kept.
func (s *source) confirm(ctx context.Context, rows []publishedRow, keep bool) error {
	statement := deleteRows
	if keep {
		statement = confirmRows
	}
	_, err := s.pool.Exec(ctx, statement, postgres.Column(rows, func(r publishedRow) int64 { return r.id }),
		postgres.UUIDColumn(rows, func(r publishedRow) string { return r.eventID }))
	if err != nil {
		return fmt.Errorf("delete from source %s: %w", s.name, err)
	}
	return nil
}

// deleteOld deletes rows that were confirmed before the retention, and returns their number.
func (s *source) deleteOld(ctx context.Context, retention time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteOldRows, retention, limit)
	if err != nil {
		return 0, fmt.Errorf("delete old rows of source %s: %w", s.name, err)
	}
	return int(tag.RowsAffected()), nil
}
