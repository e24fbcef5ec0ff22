package seal

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func keys(ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, id+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32))))
	}
	return strings.Join(all, ",")
}

func ring(t *testing.T, ids ...string) *Ring {
	t.Helper()
	r, err := ParseRing(keys(ids...))
	require.NoError(t, err)
	return r
}

func associated(column string) func(id string) string {
	return func(id string) string { return column + "/" + id }
}

// fixture is a table of gifts with two sealed columns.
type fixture struct {
	pool  *pgxpool.Pool
	table Table
	ids   []string
}

// setup fills the table under the key k1. Every second row has no note.
func setup(t *testing.T, rows int) *fixture {
	t.Helper()
	f := &fixture{pool: pgtest.New(t), table: Table{Name: "gifts", Columns: []Column{
		{"name", associated("name")}, {"note", associated("note")},
	}}}
	_, err := f.pool.Exec(t.Context(),
		"CREATE TABLE gifts (tenant_id uuid, id uuid, name bytea NOT NULL, note bytea, PRIMARY KEY (tenant_id, id))")
	require.NoError(t, err)
	old := ring(t, "k1")
	for n := range rows {
		id := uuid.NewString()
		f.ids = append(f.ids, id)
		var note []byte
		if n%2 == 0 {
			note = old.Seal([]byte("note"), "note/"+id)
		}
		_, err = f.pool.Exec(t.Context(), "INSERT INTO gifts VALUES ($1, $2, $3, $4)",
			uuid.NewString(), id, old.Seal([]byte("Marked name"), "name/"+id), note)
		require.NoError(t, err)
	}
	return f
}

func (f *fixture) reEncryption(t *testing.T, batchSize int, out *bytes.Buffer, ids ...string) *reEncryption {
	t.Helper()
	return &reEncryption{pool: f.pool, ring: ring(t, ids...), table: f.table, batchSize: batchSize, out: out}
}

// countSealedWith counts the values of both columns that are sealed under the key.
func (f *fixture) countSealedWith(t *testing.T, id string) (n int) {
	t.Helper()
	require.NoError(t, f.pool.QueryRow(t.Context(), `
SELECT count(*) FROM (SELECT name FROM gifts UNION ALL SELECT note FROM gifts) AS v (v)
WHERE substring(v FROM 2 FOR $1) = $2`, len(id), []byte(id)).Scan(&n))
	return n
}

func (f *fixture) openName(t *testing.T, r *Ring, id string) string {
	t.Helper()
	var sealed []byte
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT name FROM gifts WHERE id = $1", id).Scan(&sealed))
	plain, err := r.Open(sealed, "name/"+id)
	require.NoError(t, err)
	return string(plain)
}

func TestARotatedKeyCanLeaveTheRing(t *testing.T) {
	t.Parallel()
	f := setup(t, 24)
	require.Equal(t, 24+12, f.countSealedWith(t, "k1"))
	var out bytes.Buffer
	_, first, err := f.reEncryption(t, 10, &out, "n2", "k1").nextBatch(t.Context(), f.table.start())
	require.NoError(t, err)
	require.Equal(t, 10, first.rows)
	require.Equal(t, first.values, f.countSealedWith(t, "n2"), "stopped half way")

	database := postgres.Config{URL: f.pool.Config().ConnString()}
	require.NoError(t, ReEncrypt(t.Context(), database, keys("n2", "k1"), f.table, &out))
	require.Equal(t, 24+12, f.countSealedWith(t, "n2"))
	require.Contains(t, out.String(), fmt.Sprintf("checked 24 of about 24 gifts, re-encrypted %d values", 24+12-first.values),
		"what was done stays done")
	require.NotContains(t, out.String(), "Marked")
	for _, id := range f.ids {
		require.Equal(t, "Marked name", f.openName(t, ring(t, "n2"), id))
	}
	require.ErrorIs(t, ReEncrypt(t.Context(), database, "k1", f.table, &out), ErrRing)
}

func TestIdsMayBeIntegers(t *testing.T) {
	t.Parallel()
	f := &fixture{pool: pgtest.New(t), table: Table{Name: "gifts", IntegerID: true, Columns: []Column{{"name", associated("name")}}}}
	_, err := f.pool.Exec(t.Context(), "CREATE TABLE gifts (tenant_id uuid, id int PRIMARY KEY, name bytea, note bytea)")
	require.NoError(t, err)
	tenant, old := uuid.NewString(), ring(t, "k1")
	for id := range 25 {
		_, err = f.pool.Exec(t.Context(), "INSERT INTO gifts VALUES ($1, $2, $3)", tenant, id+1,
			old.Seal([]byte("Marked name"), fmt.Sprintf("name/%d", id+1)))
		require.NoError(t, err)
	}
	var out bytes.Buffer
	require.NoError(t, f.reEncryption(t, 4, &out, "n2", "k1").run(t.Context()), "each batch begins after the last, 10 after 9")
	require.Equal(t, 25, f.countSealedWith(t, "n2"))
	require.Equal(t, "Marked name", f.openName(t, ring(t, "n2"), "25"))
}

func TestNoChangeMadeMeanwhileIsUndone(t *testing.T) {
	t.Parallel()
	f := setup(t, 10)
	writing, stop := context.WithCancel(t.Context())
	last := make([]string, len(f.ids))
	both := ring(t, "n2", "k1")
	var writers errgroup.Group
	for i, id := range f.ids {
		writers.Go(func() error {
			for n := 0; writing.Err() == nil; n++ {
				last[i] = fmt.Sprint("name ", n)
				_, err := f.pool.Exec(t.Context(), "UPDATE gifts SET name = $1 WHERE id = $2", both.Seal([]byte(last[i]), "name/"+id), id)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	// Back and forth, so that every pass finds something to do while others write.
	for n := range 10 {
		ids := []string{"n2", "k1"}
		if n%2 == 0 {
			ids = []string{"k1", "n2"}
		}
		_, err := f.reEncryption(t, 3, &bytes.Buffer{}, ids...).runPass(t.Context())
		require.NoError(t, err)
	}
	stop()
	require.NoError(t, writers.Wait())
	require.NoError(t, f.reEncryption(t, 3, &bytes.Buffer{}, "n2", "k1").run(t.Context()))
	require.Zero(t, f.countSealedWith(t, "k1"))
	for i, id := range f.ids {
		require.Equal(t, last[i], f.openName(t, both, id))
	}
}

func TestAChangeMadeBetweenReadingAndReplacingStays(t *testing.T) {
	t.Parallel()
	f := setup(t, 1)
	both, id := ring(t, "n2", "k1"), f.ids[0]
	tx, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "UPDATE gifts SET note = NULL, name = $1", both.Seal([]byte("meanwhile"), "name/"+id))
	require.NoError(t, err)

	var c counts
	var step errgroup.Group
	step.Go(func() (err error) {
		_, c, err = f.reEncryption(t, 10, &bytes.Buffer{}, "n2", "k1").nextBatch(t.Context(), f.table.start())
		return err
	})
	require.Eventually(t, func() bool {
		var waiting bool
		err := f.pool.QueryRow(t.Context(),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waiting)
		return err == nil && waiting
	}, 30*time.Second, time.Millisecond, "it has read, and waits to write")
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, step.Wait())
	require.Equal(t, counts{rows: 1, missed: 2}, c)
	require.Equal(t, "meanwhile", f.openName(t, both, id))
}

func TestAValueThatNoKeyOpensIsNamedAndLeft(t *testing.T) {
	t.Parallel()
	f := setup(t, 2)
	_, err := f.pool.Exec(t.Context(), `UPDATE gifts SET name = '\x026c7878'::bytea WHERE id = $1`, f.ids[0])
	require.NoError(t, err)
	var out bytes.Buffer
	require.ErrorIs(t, f.reEncryption(t, 10, &out, "n2", "k1").run(t.Context()), ErrBroken)
	require.Contains(t, out.String(), "name of gifts "+f.ids[0]+" does not open")
	require.NotContains(t, out.String(), f.ids[1])
	require.Equal(t, 2, f.countSealedWith(t, "n2"), "the other values are re-encrypted")
}
