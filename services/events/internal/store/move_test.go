package store

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// twoCells makes the feeds of two cells. Databases of tests are copies of one, so their epochs have one name.
func twoCells(t *testing.T) (a, b *Store) {
	t.Helper()
	a, b = setup(t), setup(t)
	pgtest.Exec(t, b.pool, `UPDATE feed_epochs SET id = id + 1`)
	return a, b
}

// copiedRows are the tables whose rows of a tenant move with it.
var copiedRows = []string{"feed", "feed_tenants", "feed_dropped"}

// move moves tenant A from one cell to another: it copies the rows, carries the positions and the epochs, and erases the old rows.
func move(t *testing.T, from, to *Store) {
	t.Helper()
	for _, day := range daysOf(t, from) {
		pgtest.Exec(t, to.pool, `SELECT feed_ensure_day($1)`, day)
	}
	for _, table := range copiedRows {
		rows := pgtest.Value[string](t, from.pool,
			`SELECT coalesce(json_agg(r), '[]')::text FROM `+table+` r WHERE tenant_id = $1`, tenantA)
		pgtest.Exec(t, to.pool, `INSERT INTO `+table+` SELECT * FROM json_populate_recordset(null::`+table+`, $1::text::json)`, rows)
	}
	carry(t, from, to)
	carry(t, from, to) // It may be repeated.
	for _, table := range append([]string{"feed_moved_epochs"}, copiedRows...) {
		pgtest.Exec(t, from.pool, `DELETE FROM `+table+` WHERE tenant_id = $1`, tenantA)
	}
}

func daysOf(t *testing.T, s *Store) []time.Time {
	t.Helper()
	days, err := s.listDays(t.Context())
	require.NoError(t, err)
	return days
}

func carry(t *testing.T, from, to *Store) {
	t.Helper()
	var (
		last          int64
		lastDay       *time.Time
		ids, survived []int64
	)
	row := from.pool.QueryRow(t.Context(), `SELECT last, last_day, epoch_ids, survived FROM move_feed_out($1)`, tenantA)
	require.NoError(t, row.Scan(&last, &lastDay, &ids, &survived))
	pgtest.Exec(t, to.pool, `SELECT move_feed_in($1, $2, $3, $4, $5)`, tenantA, last, lastDay, ids, survived)
}

// follow reads tenant A's events after a position, as a reader with a cursor. held is false if the cursor is refused.
func follow(t *testing.T, s *Store, after Position) (read []string, last Position, held bool) {
	t.Helper()
	for {
		rows, ends, err := s.Scan(t.Context(), tenantA, after, all, 2)
		require.NoError(t, err)
		if !ends.Holds(after) {
			return read, after, false
		}
		if len(rows) == 0 {
			return read, after, true
		}
		read, after = append(read, ids(rows)...), rows[len(rows)-1].Position
	}
}

// add appends events of tenant A at an offset of partition 0 and returns their ids.
func add(t *testing.T, s *Store, at time.Time, n int) []string {
	t.Helper()
	in := changes(tenantA, nextOffset(t, s), n)
	appendAt(t, s, at, batch(0, in))
	return idsOf(in)
}

func TestCursorsGoOnAfterTheTenantHasMoved(t *testing.T) {
	t.Parallel()
	a, b := twoCells(t)
	appendAt(t, a, today, batch(1, changes(tenantB, 0, 20))) // The positions of cell a are ahead.
	first := add(t, a, today, 5)
	require.NoError(t, a.beginEpoch(t.Context(), "a restart that loses nothing"))
	// The clock of cell a is ahead.
	tomorrow := today.AddDate(0, 0, 1)
	second := add(t, a, tomorrow, 5)
	// Other tenants of both cells have events before and after.
	appendAt(t, b, today, batch(1, changes(tenantB, 0, 3)))
	everything := slices.Concat(first, second)
	var cursors []Position // Before each event, and after the last one.
	after := Position{}
	for range len(everything) + 1 {
		cursors = append(cursors, after)
		rows, _, err := a.Scan(t.Context(), tenantA, after, all, 1)
		require.NoError(t, err)
		for _, r := range rows {
			after = r.Position
		}
	}
	oldest := cursors[3]
	oldest.Epoch = pgtest.Value[int64](t, a.pool, `SELECT id FROM feed_epochs WHERE number = 1`)

	move(t, a, b)
	third := add(t, b, today, 4)
	everything = append(everything, third...)
	require.Equal(t, everything, ids(feedOf(t, b, tenantA)))
	for n, cursor := range cursors {
		read, _, held := follow(t, b, cursor)
		require.True(t, held, "cursor %d", n)
		require.Equal(t, everything[n:], read)
	}
	read, last, held := follow(t, b, oldest)
	require.True(t, held, "of an epoch before the last one")
	require.Equal(t, everything[3:], read)
	require.Equal(t, epochID(t, b), last.Epoch)
	bounds, err := b.Bounds(t.Context(), tenantB, oldest.Epoch)
	require.NoError(t, err)
	require.Negative(t, bounds.Survived, "of another tenant")

	move(t, b, a)
	fourth := add(t, a, today, 3)
	everything = append(everything, fourth...)
	for n, cursor := range append(cursors, last, oldest) {
		read, _, held := follow(t, a, cursor)
		require.True(t, held, "cursor %d", n)
		require.Equal(t, everything[len(everything)-len(read):], read)
	}
	read, _, _ = follow(t, a, last)
	require.Equal(t, fourth, read)
	read, _, _ = follow(t, a, cursors[4])
	require.Equal(t, everything[4:], read)
}

func TestACursorOfLostEventsIsRefusedInEveryCell(t *testing.T) {
	t.Parallel()
	a, b := twoCells(t)
	add(t, a, today, 3)
	_, good, _ := follow(t, a, Position{})
	add(t, a, today, 2)
	_, lost, _ := follow(t, a, good)
	setBack(t, a, good.Number)
	kept := add(t, a, today, 4)
	_, current, held := follow(t, a, good)
	require.True(t, held)

	check := func(t *testing.T, s *Store) {
		t.Helper()
		_, _, held = follow(t, s, lost)
		require.False(t, held)
		read, _, held := follow(t, s, good)
		require.True(t, held)
		require.Equal(t, kept, read[:len(kept)])
		_, _, held = follow(t, s, current)
		require.True(t, held)
	}
	check(t, a)
	move(t, a, b)
	check(t, b)
	// What the old cell loses afterwards was not the tenant's.
	setBack(t, a, 1)
	add(t, b, today, 2)
	check(t, b)
	move(t, b, a)
	check(t, a)
	add(t, a, today, 1)
	check(t, a)
}

func TestACursorOfWhatTheNewCellHasLostIsRefused(t *testing.T) {
	t.Parallel()
	a, b := twoCells(t)
	add(t, a, today, 5)
	_, old, _ := follow(t, a, Position{})
	move(t, a, b)
	add(t, b, today, 2)
	_, good, _ := follow(t, b, old)
	add(t, b, today, 2)
	_, lost, _ := follow(t, b, good)
	carried := Position{Epoch: old.Epoch, Day: lost.Day, Number: lost.Number} // The old cell gave no such one.
	setBack(t, b, good.Number)
	kept := add(t, b, today, 4)
	for _, refused := range []Position{lost, carried} {
		_, _, held := follow(t, b, refused)
		require.False(t, held)
	}
	read, _, held := follow(t, b, good)
	require.True(t, held)
	require.Equal(t, kept, read)
	_, _, held = follow(t, b, old)
	require.True(t, held)

	move(t, b, a)
	_, _, held = follow(t, a, lost)
	require.False(t, held)
	read, _, held = follow(t, a, good)
	require.True(t, held)
	require.Equal(t, kept, read)
}

// setBack brings a feed to where it was at a position, as a restore does, and begins the epoch that follows.
func setBack(t *testing.T, s *Store, position int64) {
	t.Helper()
	pgtest.Exec(t, s.pool, `DELETE FROM feed WHERE position > $1`, position)
	pgtest.Exec(t, s.pool, `UPDATE feed_tenants SET last_position = $1 WHERE last_position > $1`, position)
	pgtest.Exec(t, s.pool, `SELECT setval('feed_position', $1)`, position)
	require.NoError(t, s.beginEpoch(t.Context(), "set back"))
}

func TestATenantWithoutEventsMoves(t *testing.T) {
	t.Parallel()
	a, b := twoCells(t)
	end, err := a.End(t.Context(), tenantA)
	require.NoError(t, err)
	move(t, a, b)
	in := add(t, b, today, 1)
	require.Equal(t, int64(1), feedOf(t, b, tenantA)[0].Position.Number, "the sequence is as before")
	read, _, held := follow(t, b, end)
	require.True(t, held)
	require.Equal(t, in, read)
}

func TestATenantWaitsForTheAppendsOfItsNewCell(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, `SELECT FROM feed_writers WHERE kafka_partition = 1 FOR UPDATE`)
	position := pgtest.Value[int64](t, tx, `SELECT nextval('feed_position')`)
	moved := make(chan error, 1)
	go func() {
		_, err := s.pool.Exec(t.Context(), `SELECT move_feed_in($1, 100, '2030-01-01', '{}', '{}')`, tenantA)
		moved <- err
	}()
	pgtest.AwaitLock(t, s.pool)
	require.Equal(t, position, pgtest.Value[int64](t, tx, `SELECT last_value FROM feed_position`))
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-moved)
	require.Equal(t, int64(101), pgtest.Value[int64](t, s.pool, `SELECT nextval('feed_position')`))
	require.Equal(t, "2030-01-01", pgtest.Value[string](t, s.pool, `SELECT min(last_day)::text FROM feed_writers`))
	pgtest.Exec(t, s.pool, `SELECT move_feed_in($1, 50, '2029-01-01', '{}', '{}')`, tenantA)
	require.Equal(t, int64(102), pgtest.Value[int64](t, s.pool, `SELECT nextval('feed_position')`), "it never goes back")
	require.Equal(t, "2030-01-01", pgtest.Value[string](t, s.pool, `SELECT min(last_day)::text FROM feed_writers`))
}

func TestWhatBothCellsDropIsMergedWhenItArrivesByReplication(t *testing.T) {
	t.Parallel()
	s := setup(t)
	apply := func(position int64) {
		t.Helper()
		require.NoError(t, pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			pgtest.Exec(t, tx, `SET LOCAL session_replication_role = replica`)
			pgtest.Exec(t, tx, `SET LOCAL search_path = pg_catalog`)
			pgtest.Exec(t, tx, `INSERT INTO public.feed_dropped VALUES ($1, $2)`, tenantA, position)
			return nil
		}))
	}
	for _, positions := range [][2]int64{{7, 7}, {9, 9}, {8, 9}} {
		apply(positions[0])
		require.Equal(t, positions[1], pgtest.Value[int64](t, s.pool, `SELECT position FROM feed_dropped`))
	}
	_, err := s.pool.Exec(t.Context(), `INSERT INTO feed_dropped VALUES ($1, 9)`, tenantA)
	require.ErrorContains(t, err, "duplicate key")
}
