package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	// daysLock is the advisory lock of the process that creates or drops a partition. The function feed_ensure_day takes it too.
	daysLock   = 0x67696674_64617973
	dayPrefix  = "feed_"
	dayPattern = "20060102"
	// lockWait bounds how long dropping a partition may delay readers that queue behind it.
	lockWait = "1s"
	// stateNoPartition is the SQLSTATE of an insert on a day without a partition.
	stateNoPartition = "23514"
)

// EnsureDays creates missing partitions of count days from today on.
func (s *Store) EnsureDays(ctx context.Context, count int) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	for i := range count {
		if err := s.ensureDay(ctx, Day(now).AddDate(0, 0, i)); err != nil {
			return err
		}
	}
	return nil
}

// ensureDay asks the database whatever the cache says: a database that was set back has lost partitions.
func (s *Store) ensureDay(ctx context.Context, day time.Time) error {
	if _, err := s.pool.Exec(ctx, "SELECT feed_ensure_day($1)", day); err != nil {
		return fmt.Errorf("create partition %s: %w", dayTable(day), err)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.days[day] = true
	return nil
}

func (s *Store) hasDay(day time.Time) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.days[day]
}

func (s *Store) forgetDay(day time.Time) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.days, day)
}

// DropOlder drops the partitions of days whose last moment is older than the retention, each in a transaction that also records
// every tenant's last dropped position. It returns the dropped days.
func (s *Store) DropOlder(ctx context.Context, retention time.Duration) ([]time.Time, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	oldest := Day(now.Add(-retention))
	days, err := s.listDays(ctx)
	if err != nil {
		return nil, err
	}
	var dropped []time.Time
	for _, d := range days {
		if !d.Before(oldest) {
			break
		}
		s.forgetDay(d)
		if err := s.dropDay(ctx, d); err != nil {
			return dropped, fmt.Errorf("drop partition %s: %w", dayTable(d), err)
		}
		dropped = append(dropped, d)
	}
	return dropped, nil
}

// RetainedFrom returns the beginning of the first day that DropOlder does not drop within the next 24 hours. The feed may begin
// later, if its database was made anew.
func (s *Store) RetainedFrom(ctx context.Context, retention time.Duration) (time.Time, error) {
	now, err := s.now(ctx)
	return Day(now.Add(-retention)).AddDate(0, 0, 1), err
}

const listDays = `SELECT c.relname
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'feed'::regclass
ORDER BY c.relname`

// listDays returns the days that have a partition, oldest first.
func (s *Store) listDays(ctx context.Context) ([]time.Time, error) {
	rows, err := s.pool.Query(ctx, listDays)
	if err != nil {
		return nil, fmt.Errorf("list partitions: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list partitions: %w", err)
	}
	days := make([]time.Time, len(names))
	for i, name := range names {
		if days[i], err = time.ParseInLocation(dayPrefix+dayPattern, name, time.UTC); err != nil {
			return nil, fmt.Errorf("partition with an unknown name: %w", err)
		}
	}
	return days, nil
}

// noteDropped runs before the partition is dropped, while it takes no more rows.
const noteDropped = `INSERT INTO feed_dropped (tenant_id, position)
SELECT tenant_id, max(position) FROM %s GROUP BY tenant_id
ON CONFLICT (tenant_id) DO UPDATE SET position = greatest(feed_dropped.position, excluded.position)`

func (s *Store) dropDay(ctx context.Context, day time.Time) error {
	name := pgx.Identifier{dayTable(day)}.Sanitize()
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var exists bool
		b := &pgx.Batch{}
		b.Queue("SELECT pg_advisory_xact_lock($1)", int64(daysLock))
		b.Queue("SET LOCAL lock_timeout = '" + lockWait + "'")
		b.Queue("SET LOCAL statement_timeout = 0")
		b.Queue("SELECT to_regclass($1) IS NOT NULL", dayTable(day)).QueryRow(func(row pgx.Row) error {
			return row.Scan(&exists)
		})
		if err := tx.SendBatch(ctx, b).Close(); err != nil || !exists {
			return err
		}
		for _, sql := range []string{
			// This keeps writers out, but not readers.
			"LOCK TABLE " + name + " IN SHARE MODE",
			fmt.Sprintf(noteDropped, name),
			"DROP TABLE " + name,
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

func dayTable(day time.Time) string { return dayPrefix + day.Format(dayPattern) }
