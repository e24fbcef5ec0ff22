package seal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// keys is a ring of one-letter fills by id, such as k1:a.
func keys(all ...string) string {
	var entries []string
	for _, one := range all {
		id, fill, _ := strings.Cut(one, ":")
		entries = append(entries, id+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32))))
	}
	return strings.Join(entries, ",")
}

func ring(t *testing.T, all ...string) *seal.Ring {
	t.Helper()
	r, err := seal.ParseRing(keys(all...))
	require.NoError(t, err)
	return r
}

func ofName(id string) string { return "name/" + id }
func ofNote(id string) string { return "note/" + id }

var gifts = seal.Table{Name: "gifts", Columns: []seal.Column{
	{Name: "name", AssociatedData: ofName}, {Name: "note", AssociatedData: ofNote},
}}

type fixture struct {
	pool *pgxpool.Pool
	tel  *telemetrytest.Record
	logs bytes.Buffer
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pgtest.New(t), tel: telemetrytest.New()}
	f.tel.Logger = slog.New(slog.NewTextHandler(&f.logs, nil))
	f.exec(t, `CREATE TABLE gifts (tenant_id uuid, id uuid, name bytea NOT NULL, note bytea, PRIMARY KEY (tenant_id, id))`)
	for _, column := range []string{"name", "note"} {
		f.exec(t, fmt.Sprintf(`
CREATE INDEX ON gifts ((CASE WHEN length(%[1]s) > 0 THEN substring(%[1]s FOR get_byte(%[1]s, 0) + 1) END))`, column))
	}
	return f
}

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// seal stores a name, and a note too if noted is not nil.
func (f *fixture) seal(t *testing.T, named, noted *seal.Ring) {
	t.Helper()
	id := uuid.NewString()
	var note []byte
	if noted != nil {
		note = noted.Seal([]byte("n"), ofNote(id))
	}
	f.exec(t, `INSERT INTO gifts VALUES (gen_random_uuid(), $1, $2, $3)`, id, named.Seal([]byte("x"), ofName(id)), note)
}

func (f *fixture) check(t *testing.T, r *seal.Ring) *seal.RingCheck {
	t.Helper()
	c, err := seal.NewRingCheck(t.Context(), f.pool, f.tel.Telemetry, seal.CheckedRingOf(r, seal.SealedColumns(gifts)...))
	require.NoError(t, err)
	return c
}

func TestAServiceIsReadyAlsoBeforeACheckThatFoundNothingHasEnded(t *testing.T) {
	t.Parallel()
	require.NoError(t, (&seal.RingCheck{}).Ready(t.Context()))
}

func TestAServiceIsReadyIfItsRingOpensWhatTheDatabaseHolds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ring []string
		err  error
		text string
	}{
		"all keys": {ring: []string{"new:c", "k1:a", "k2:b"}},
		"a key is missing": {
			ring: []string{"new:c", "k1:a"}, err: seal.ErrKeyMissing, text: `gifts.note has values sealed with key "k2"`,
		},
		"a key is wrong": {
			ring: []string{"new:c", "k1:z", "k2:b"}, err: seal.ErrKeyWrong, text: `gifts.name has values sealed with key "k1"`,
		},
		"no key is the right": {
			ring: []string{"k1:z"}, err: seal.ErrKeyMissing,
			text: `other bytes for the key: correct the key of this id in GIFTING_SEAL_KEYS; gifts.note has`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.seal(t, ring(t, "k1:a"), nil)
			f.seal(t, ring(t, "k1:a"), ring(t, "k2:b"))
			f.seal(t, ring(t, "k1:a"), ring(t, "k1:a"))
			err := f.check(t, ring(t, tc.ring...)).Ready(t.Context())
			require.ErrorIs(t, err, tc.err)
			if tc.err != nil {
				require.ErrorContains(t, err, tc.text)
				require.NotContains(t, err.Error(), "\n")
				require.Contains(t, f.logs.String(), "a seal key is missing or wrong")
			}
		})
	}
}

func TestAnEmptyTableAndErasedValuesNeedNoKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.NoError(t, f.check(t, ring(t, "k2:b")).Ready(t.Context()))
	f.exec(t, `INSERT INTO gifts VALUES (gen_random_uuid(), gen_random_uuid(), '', NULL)`)
	require.NoError(t, f.check(t, ring(t, "k2:b")).Ready(t.Context()))
}

func TestOneChangedValueDoesNotMakeItsKeyWrong(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), nil)
	f.exec(t, `UPDATE gifts SET id = gen_random_uuid()`)
	f.seal(t, ring(t, "k1:a"), nil)
	require.NoError(t, f.check(t, ring(t, "k1:a")).Ready(t.Context()))
}

func TestTheServiceServesAsSoonAsTheRingIsWhole(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), ring(t, "k1:a"))
	c := f.check(t, ring(t, "k2:b"))
	ctx, stop := context.WithCancel(t.Context())
	served, ended := make(chan struct{}), make(chan error, 1)
	held := c.Hold(daemon.Part{Name: "grpc", Run: func(ctx context.Context) error {
		close(served)
		<-ctx.Done()
		return nil
	}})
	go func() { ended <- held.Run(ctx) }()
	require.NoError(t, c.Run(t.Context()))
	require.Error(t, c.Ready(t.Context()))
	require.Equal(t, 1, strings.Count(f.logs.String(), "column=gifts.name"), "a second check reports only what is new")
	require.Equal(t, map[string]float64{
		"column=gifts.name,reason=missing": 1, "column=gifts.name,reason=wrong": 0,
		"column=gifts.note,reason=missing": 1, "column=gifts.note,reason=wrong": 0,
	}, f.tel.Values(t, "gifting.seal.keys.unusable"))
	select {
	case <-served:
		require.Fail(t, "it serves with an incomplete ring")
	default:
	}

	database := postgres.Config{URL: f.pool.Config().ConnString()}
	require.NoError(t, seal.ReEncrypt(t.Context(), database, keys("k2:b", "k1:a"), gifts, io.Discard))
	require.NoError(t, c.Run(t.Context()))
	require.NoError(t, c.Ready(t.Context()))
	<-served
	require.Contains(t, f.logs.String(), "all seal keys that the database needs are in the ring")
	require.Zero(t, f.tel.Values(t, "gifting.seal.keys.unusable")["column=gifts.name,reason=missing"])
	stop()
	require.NoError(t, <-ended)
}

func TestAServiceThatServesGoesOnIfAKeyIsMissingLater(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.check(t, ring(t, "k1:a"))
	f.seal(t, ring(t, "k2:b"), nil)
	require.NoError(t, c.Run(t.Context()))
	require.NoError(t, c.Ready(t.Context()))
	require.InDelta(t, 1, f.tel.Values(t, "gifting.seal.keys.unusable")["column=gifts.name,reason=missing"], 0)
	require.Contains(t, f.logs.String(), "seal_key_id=k2")
}

func TestACheckThatFailsKeepsNoServiceFromStarting(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exec(t, `DROP TABLE gifts`)
	require.NoError(t, f.check(t, ring(t, "k1:a")).Ready(t.Context()))
	require.Contains(t, f.logs.String(), "cannot say whether the seal keys are complete")
	require.Empty(t, f.tel.Values(t, "gifting.seal.keys.unusable"), "nobody knows")
}

func TestACheckThatFailsDoesNotForgetAMissingKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), nil)
	c := f.check(t, ring(t, "k2:b"))
	f.exec(t, `DROP TABLE gifts`)
	require.Error(t, c.Run(t.Context()))
	require.ErrorIs(t, c.Ready(t.Context()), seal.ErrKeyMissing)
	require.Equal(t, map[string]float64{"column=gifts.name,reason=missing": 1}, f.tel.Values(t, "gifting.seal.keys.unusable"))
}

func TestValuesThatDoNotOpenAreCountedByCause(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := ring(t, "k1:a")
	f.check(t, r)
	require.Equal(t, map[string]float64{"cause=missing_key": 0, "cause=broken": 0}, f.tel.Values(t, "gifting.seal.unreadable"))
	_, err := r.Open(ring(t, "k2:b").Seal([]byte("x"), "a"), "a")
	require.ErrorIs(t, err, seal.ErrNoKey)
	_, err = r.Open(r.Seal([]byte("x"), "a"), "b")
	require.ErrorIs(t, err, seal.ErrBroken)
	require.ErrorIs(t, r.Check(r.Seal([]byte("x"), "a"), "b"), seal.ErrBroken)
	require.Equal(t, map[string]float64{"cause=missing_key": 1, "cause=broken": 1}, f.tel.Values(t, "gifting.seal.unreadable"))
}

func TestTheKeysInUseAreAMetric(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), ring(t, "k2:b"))
	c := f.check(t, ring(t, "k2:b", "k1:a"))
	require.Equal(t, map[string]float64{
		"column=gifts.name,key_id=k1": 1, "column=gifts.note,key_id=k2": 1,
	}, f.tel.Values(t, "gifting.seal.keys.in_use"))
	f.exec(t, `UPDATE gifts SET note = NULL`)
	require.NoError(t, c.Run(t.Context()))
	require.Equal(t, map[string]float64{"column=gifts.name,key_id=k1": 1}, f.tel.Values(t, "gifting.seal.keys.in_use"))
}

func TestAReencryptionThatLeftOutAColumnIsNotDone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), ring(t, "k1:a"))
	database := postgres.Config{URL: f.pool.Config().ConnString()}
	both := seal.CheckedRingOf(ring(t, "k2:b", "k1:a"), seal.SealedColumns(gifts)...)
	names := seal.Table{Name: gifts.Name, Columns: gifts.Columns[:1]}
	require.NoError(t, seal.ReEncrypt(t.Context(), database, keys("k2:b", "k1:a"), names, io.Discard))
	err := seal.CheckReEncrypted(t.Context(), database, both)
	require.ErrorIs(t, err, seal.ErrKeyInUse)
	require.ErrorContains(t, err, `gifts.note has values sealed with key "k1"`)
	require.NotContains(t, err.Error(), "gifts.name")
	require.NoError(t, seal.ReEncrypt(t.Context(), database, keys("k2:b", "k1:a"), gifts, io.Discard))
	require.NoError(t, seal.CheckReEncrypted(t.Context(), database, both))
}

// After millions of values were replaced, the indexes are full of entries that point nowhere.
func TestTheCheckAfterAReencryptionMayTakeLongerThanThatOfAService(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), nil)
	values := seal.SealedColumns(gifts)[:1]
	values[0].Where = "current_setting('statement_timeout')::interval <= '5 s'"
	checked := seal.CheckedRingOf(ring(t, "k2:b"), values...)
	require.NoError(t, seal.CheckReEncrypted(t.Context(), postgres.Config{URL: f.pool.Config().ConnString()}, checked))
	c, err := seal.NewRingCheck(t.Context(), f.pool, f.tel.Telemetry, checked)
	require.NoError(t, err)
	require.ErrorIs(t, c.Ready(t.Context()), seal.ErrKeyMissing, "the row is found by a statement of at most 5 s")
}

// A column that cannot be read says nothing about the others.
func TestAMissingKeyIsFoundBesideAColumnThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.seal(t, ring(t, "k1:a"), nil)
	broken := seal.Table{Name: "absent", Columns: gifts.Columns}
	c, err := seal.NewRingCheck(t.Context(), f.pool, f.tel.Telemetry,
		seal.CheckedRingOf(ring(t, "k2:b"), append(seal.SealedColumns(broken), seal.SealedColumns(gifts)...)...))
	require.NoError(t, err)
	require.ErrorIs(t, c.Ready(t.Context()), seal.ErrKeyMissing)
	require.Contains(t, f.logs.String(), "cannot say whether the seal keys are complete")
}

// Such bytes must not end in a label, which Prometheus would refuse with all other metrics.
func TestAValueThatWasNeverSealedDoesNotBreakTheMetrics(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exec(t, `INSERT INTO gifts VALUES (gen_random_uuid(), gen_random_uuid(), decode(repeat('ff', 300), 'hex'))`)
	require.ErrorIs(t, f.check(t, ring(t, "k1:a")).Ready(t.Context()), seal.ErrKeyMissing)
	for labels := range f.tel.Values(t, "gifting.seal.keys.in_use") {
		require.Equal(t, "column=gifts.name,key_id=?", labels)
	}
}

// Most rows have one key: the check must not read them to find the others.
func TestTheCheckReadsFewRowsOfALargeTable(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exec(t, `INSERT INTO gifts SELECT gen_random_uuid(), gen_random_uuid(), '\x026b31'::bytea || decode(md5(n::text), 'hex')
FROM generate_series(1, 20000) n`)
	f.seal(t, ring(t, "k2:b"), nil)
	require.Less(t, sealtest.RowsRead(t, f.pool, seal.CheckedRingOf(ring(t, "k2:b"), seal.SealedColumns(gifts)...), "gifts"), 100)
}
