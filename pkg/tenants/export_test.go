package tenants_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/tenants"
)

const (
	tenantID    = "0198f2e4-0000-7000-8000-0000000000a1"
	otherTenant = "0198f2e4-0000-7000-8000-0000000000b2"
)

// setup makes two tables with the given number of rows for each of two tenants.
func setup(t *testing.T, rows int) *tenants.Database {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	pool := pgtest.New(t)
	_, err = pool.Exec(t.Context(), `CREATE TABLE notes (tenant_id uuid, n int, body bytea, hash bytea);
		CREATE TABLE people (tenant_id uuid, id text, name_sealed bytea)`)
	require.NoError(t, err)
	associated := func(id string) string { return "people/" + id }
	for _, tenant := range []string{tenantID, otherTenant} {
		_, err = pool.Exec(t.Context(),
			`INSERT INTO notes SELECT $1, n, 'note', 'secret' FROM generate_series(1, $2::int) n`, tenant, rows)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), `INSERT INTO people VALUES ($1, 'a', $2), ($1, 'b', ''), ($1, 'c', NULL)`,
			tenant, ring.Seal([]byte("Ada"), associated("a")))
		require.NoError(t, err)
	}
	return &tenants.Database{Pool: pool, Ring: ring, Tables: []tenants.Table{
		{Name: "notes", Key: []string{"n int"}, Omit: []string{"hash"}, Bytes: []string{"body"}},
		{Name: "people", Key: []string{"id text"}, Sealed: []seal.Column{{Name: "name_sealed", AssociatedData: associated}}},
	}}
}

func TestTheExportHasEveryRowOnceInPages(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 199, 200, 201, 450} {
		db := setup(t, rows)
		pages, seen := 0, map[string]int{}
		for next := ""; pages == 0 || next != ""; pages++ {
			lines, after, err := db.Export(t.Context(), tenants.Tenant{ID: tenantID}, next)
			require.NoError(t, err)
			for line := range strings.Lines(string(lines)) {
				require.True(t, json.Valid([]byte(line)), line)
				seen[line]++
			}
			next = after
		}
		require.Len(t, seen, rows+3)
		for line, n := range seen {
			require.Equal(t, 1, n, line)
			require.NotContains(t, line, otherTenant)
			require.NotContains(t, line, "hash")
		}
		require.Contains(t, seen, `{"table":"people","row":{"id":"a","name":"Ada","tenant_id":"`+tenantID+`"}}`+"\n")
		require.Contains(t, seen, `{"table":"people","row":{"id":"b","name":null,"tenant_id":"`+tenantID+`"}}`+"\n")
		require.Equal(t, rows > 0, seen[`{"table":"notes","row":{"body":"note","n":1,"tenant_id":"`+tenantID+`"}}`+"\n"] == 1)
	}
}

func TestTheExportLacksWhatTheTenantMayNotSee(t *testing.T) {
	t.Parallel()
	db, tenant := setup(t, 450), tenants.Tenant{ID: tenantID}
	require.Equal(t, []string{"notes", "people"}, []string{db.Tables[0].Name, db.Tables[1].Name})
	db.Tables[0].Exported, db.Tables[1].Withheld = "n % 3 = 0 OR n = 1", "id = 'a' OR id = 'c'"
	_, err := db.Pool.Exec(t.Context(), `UPDATE people SET name_sealed = $1 WHERE id = 'b'`, db.Ring.Seal([]byte("Bo"), "people/b"))
	require.NoError(t, err)
	var export strings.Builder
	for next, first := "", true; first || next != ""; first = false {
		var lines []byte
		lines, next, err = db.Export(t.Context(), tenant, next)
		require.NoError(t, err)
		export.Write(lines)
	}
	require.Equal(t, 151, strings.Count(export.String(), `"table":"notes"`))
	require.NotContains(t, export.String(), `"n":2,`)
	require.NotContains(t, export.String(), otherTenant)
	require.NotContains(t, export.String(), "Ada")
	for _, row := range []string{`"n":1,`, `"n":450,`, `"id":"a","name":null,`, `"id":"b","name":"Bo",`, `"id":"c","name":null,`} {
		require.Equal(t, 1, strings.Count(export.String(), row), row)
	}
	tables, _, err := db.Count(t.Context(), tenant)
	require.NoError(t, err)
	require.EqualValues(t, 453, tables[0].GetRows()+tables[1].GetRows(), "all rows are counted")
	done, err := db.Erase(t.Context(), tenant)
	require.NoError(t, err)
	require.True(t, done)
	tables, _, err = db.Count(t.Context(), tenant)
	require.NoError(t, err)
	require.Zero(t, tables[0].GetRows()+tables[1].GetRows(), "all rows are erased")
}

// The text of a message that is a number must not become one.
func TestASealedTextIsExportedAsText(t *testing.T) {
	t.Parallel()
	db := setup(t, 0)
	require.Equal(t, "people", db.Tables[1].Name)
	db.Tables[1].Text = []string{"name_sealed"}
	for text, want := range map[string]string{
		"123": `"123"`, "null": `"null"`, `"a"`: `"\"a\""`, `{"name":1}`: `"{\"name\":1}"`, "{": `"{"`,
	} {
		_, err := db.Pool.Exec(t.Context(), `UPDATE people SET name_sealed = $1 WHERE id = 'a'`, db.Ring.Seal([]byte(text), "people/a"))
		require.NoError(t, err)
		lines, _, err := db.Export(t.Context(), tenants.Tenant{ID: tenantID}, `{"t":1}`)
		require.NoError(t, err)
		require.Contains(t, string(lines), `{"id":"a","name":`+want+`,`)
	}
}

func TestAnUnknownCursorIsRefused(t *testing.T) {
	t.Parallel()
	db := setup(t, 1)
	db.Tables = append(db.Tables, tenants.Table{Name: "notes", Key: []string{"n int"}, Hidden: true})
	for _, after := range []string{
		"x", "{}x", `{"t":3}`, `{"t":-1}`, `{"t":0,"k":null}x`,
		`{"t":0,"k":7}`, `{"t":0,"k":[]}`, `{"t":0,"k":[null]}`, `{"t":0,"k":[1,2]}`,
		`{"t":0,"k":["one"]}`, `{"t":0,"k":[99999999999]}`, `{"t":0,"k":[{}]}`,
		`{"t":1,"k":[null]}`, `{"t":1,"k":["\u0000"]}`, `{"t":2,"k":[1]}`,
	} {
		_, _, err := db.Export(t.Context(), tenants.Tenant{ID: tenantID}, after)
		require.ErrorIs(t, err, tenants.ErrExportCursor, after)
	}
}

func TestAnErasureGoesInBatchesAndLeavesOtherTenants(t *testing.T) {
	t.Parallel()
	db := setup(t, 2500)
	tenant := tenants.Tenant{ID: tenantID}
	for _, want := range []bool{false, false, true, true} {
		done, err := db.Erase(t.Context(), tenant)
		require.NoError(t, err)
		require.Equal(t, want, done)
	}
	tables, _, err := db.Count(t.Context(), tenant)
	require.NoError(t, err)
	require.Zero(t, tables[0].GetRows()+tables[1].GetRows())
	tables, _, err = db.Count(t.Context(), tenants.Tenant{ID: otherTenant})
	require.NoError(t, err)
	require.EqualValues(t, 2503, tables[0].GetRows()+tables[1].GetRows())
}

func TestErasuresAtOnceDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	db := setup(t, 2500)
	failed := make(chan error, 4)
	for range cap(failed) {
		go func() {
			for {
				done, err := db.Erase(t.Context(), tenants.Tenant{ID: tenantID})
				if done || err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	for range cap(failed) {
		require.NoError(t, <-failed)
	}
	tables, _, err := db.Count(t.Context(), tenants.Tenant{ID: tenantID})
	require.NoError(t, err)
	require.Zero(t, tables[0].GetRows()+tables[1].GetRows())
}

func TestSealedEventsAreExportedInClear(t *testing.T) {
	t.Parallel()
	pool, keys := pgtest.New(t), sealtest.Keys("a")
	ref := seal.EventRef{TenantID: tenantID, EventID: uuid.NewString()}
	sealed, _ := sealtest.Message(t, sealtest.Writer(t, keys), ref, "Happy birthday")
	_, err := pool.Exec(t.Context(), "CREATE TABLE feed (tenant_id uuid, event_id uuid, data bytea)")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "INSERT INTO feed VALUES ($1, $2, $3)", ref.TenantID, ref.EventID, sealed)
	require.NoError(t, err)
	db := &tenants.Database{
		Pool: pool, Events: sealtest.Reader(t, keys),
		Tables: []tenants.Table{{Name: "feed", Key: []string{"event_id uuid"}, Bytes: []string{"data"}, Events: true}},
	}
	lines, _, err := db.Export(t.Context(), tenants.Tenant{ID: tenantID}, "")
	require.NoError(t, err)
	require.Contains(t, string(lines), `"body":"Happy birthday"`)

	db.Events = sealtest.Reader(t, sealtest.Keys("b"))
	_, _, err = db.Export(t.Context(), tenants.Tenant{ID: tenantID}, "")
	require.ErrorIs(t, err, seal.ErrEventUnreadable, "an export without the text would not be complete")
}
