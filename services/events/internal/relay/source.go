package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	// The relay uses one connection at a time; the second is for reconnecting.
	sourceConns      = 2
	connectTimeout   = 3 * time.Second
	statementTimeout = "10000"

	readClock = `SELECT clock_timestamp()`

	readRows = `SELECT id, recorded_at, event_id, tenant_id, brand_id, subject_id, type, origin_key_id,
  occurred_at, data, traceparent
FROM outbox
WHERE recorded_at <= $1
ORDER BY recorded_at, id
LIMIT $2`

	deleteRows = `DELETE FROM outbox WHERE id = ANY($1)`
)

// row is an outbox row and the source it came from.
type row struct {
	source     int
	id         int64
	recordedAt time.Time
	change     *eventsv1.Change
}

// source is one outbox. Its statements are prepared on first use of a connection.
type source struct {
	name string
	pool *pgxpool.Pool
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
	// No batch waits for a disk: the relay only deletes, so a crash of the server can only bring rows back. They are published
	// again, and readers drop the duplicates.
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open source %s: %w", s.Name, err)
	}
	if err := postgres.Measure(pool, "outbox/"+s.Name, tel); err != nil {
		pool.Close()
		return nil, err
	}
	return &source{name: s.Name, pool: pool}, nil
}

func (s *source) clock(ctx context.Context) (t time.Time, err error) {
	if err := s.pool.QueryRow(ctx, readClock).Scan(&t); err != nil {
		return t, fmt.Errorf("clock of source %s: %w", s.name, err)
	}
	return t, nil
}

// read returns the oldest visible rows recorded up to the watermark. It is a separate statement, so it sees everything that was
// committed before the call.
func (s *source) read(ctx context.Context, index int, watermark time.Time, limit int) ([]row, error) {
	rows, err := s.pool.Query(ctx, readRows, watermark, limit)
	if err != nil {
		return nil, fmt.Errorf("read source %s: %w", s.name, err)
	}
	found, err := pgx.CollectRows(rows, func(c pgx.CollectableRow) (row, error) {
		r, e := row{source: index}, &eventsv1.Change{}
		var occurredAt time.Time
		err := c.Scan(&r.id, &r.recordedAt, &e.EventId, &e.TenantId, &e.BrandId, &e.SubjectId, &e.Type, &e.OriginKeyId,
			&occurredAt, &e.Data, &e.Traceparent)
		e.OccurredAt, e.RecordedAt = timestamppb.New(occurredAt), timestamppb.New(r.recordedAt)
		r.change = e
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read source %s: %w", s.name, err)
	}
	return found, nil
}

func (s *source) remove(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := s.pool.Exec(ctx, deleteRows, ids); err != nil {
		return fmt.Errorf("delete from source %s: %w", s.name, err)
	}
	return nil
}
