package catalogcopy_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/catalogcopy"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func listed(id string, day int) string {
	return fmt.Sprintf(`{"id":%q,"name":"Gift %s","listed":true,"available":true,"updatedAt":"2026-01-%02dT00:00:00Z"}`, id, id, day)
}

func unlisted(id string, day int) string {
	return fmt.Sprintf(`{"id":%q,"listed":false,"updatedAt":"2026-01-%02dT00:00:00Z"}`, id, day)
}

// catalog answers with a page after another, and remembers what it was asked for.
type catalog struct {
	pages []string
	since []string
}

// ServeHTTP implements http.Handler.
func (c *catalog) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	c.since = append(c.since, req.URL.Query().Get("updatedSince"))
	if c.pages[0] == "" {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write([]byte(c.pages[0]))
	c.pages = c.pages[1:]
}

func page(next string, items ...string) string {
	all := ""
	for i, item := range items {
		if i > 0 {
			all += ","
		}
		all += item
	}
	return `{"items":[` + all + `],"nextCursor":` + next + `}`
}

func TestACopyFollowsTheCatalog(t *testing.T) {
	t.Parallel()
	for form, open := range map[string]func(t *testing.T, path string) catalogcopy.Copy{"sqlite": openSQLite, "ndjson": openNDJSON} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			shop := &catalog{pages: []string{
				page(`"2"`, listed("a", 1), listed("b", 2)), page("null", listed("c", 3)),
				page("null", unlisted("a", 4), listed("b", 5)),
				page(`"2"`, unlisted("b", 6)), "", // The second page is refused.
				page("null", unlisted("b", 6)),
				page("null", listed("c", 6)),
			}}
			server := httptest.NewServer(shop)
			t.Cleanup(server.Close)
			client, err := gifting.New(server.URL, "key")
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "a copy?.db")
			sync := func(whole bool) (catalogcopy.Result, error) {
				to := open(t, path)
				result, err := catalogcopy.Sync(t.Context(), client, to, "SE", "en-US", whole)
				require.NoError(t, to.Close())
				return result, err
			}
			result, err := sync(false)
			require.NoError(t, err)
			require.Equal(t, catalogcopy.Result{Updated: 3, Products: 3, Newest: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}, result)
			result, err = sync(false)
			require.NoError(t, err)
			require.Equal(t, catalogcopy.Result{Updated: 1, Unlisted: 1, Products: 2, Newest: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)},
				result)
			_, err = sync(false)
			require.Error(t, err)
			to := open(t, path)
			count, err := to.Count(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, count, "the sync that failed has changed nothing")
			_, err = catalogcopy.Sync(t.Context(), client, to, "NO", "en-US", false)
			require.ErrorIs(t, err, catalogcopy.ErrOther)
			require.NoError(t, to.Close())
			result, err = sync(false)
			require.NoError(t, err)
			require.Equal(t, 1, result.Products)
			result, err = sync(true)
			require.NoError(t, err)
			require.Equal(t, 1, result.Products)
			require.Equal(t,
				[]string{"", "", "2026-01-02T23:55:00Z", "2026-01-04T23:55:00Z", "2026-01-04T23:55:00Z", "2026-01-04T23:55:00Z", ""},
				shop.since)
		})
	}
}

func openSQLite(t *testing.T, path string) catalogcopy.Copy {
	t.Helper()
	to, err := catalogcopy.SQLite(t.Context(), path)
	require.NoError(t, err)
	return to
}

func openNDJSON(t *testing.T, path string) catalogcopy.Copy {
	t.Helper()
	to, err := catalogcopy.NDJSON(path)
	require.NoError(t, err)
	return to
}

// Two first syncs of one file could otherwise mix two countries.
func TestASyncThatWaitsForAnotherSeesItsState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	first := openSQLite(t, path)
	opened := make(chan catalogcopy.Copy)
	go func() {
		second, err := catalogcopy.SQLite(t.Context(), path)
		assert.NoError(t, err)
		opened <- second
	}()
	select {
	case <-opened:
		require.Fail(t, "the second did not wait")
	case <-time.After(500 * time.Millisecond):
	}
	state := catalogcopy.State{Country: "SE", Locale: "en-US", Newest: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}
	require.NoError(t, first.Commit(t.Context(), state))
	second := <-opened
	require.Equal(t, state, second.State())
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
}

func TestTheFilesCanBeRead(t *testing.T) {
	t.Parallel()
	shop := &catalog{pages: []string{page("null", listed("b", 1), listed("a", 2)), page("null", listed("b", 1), listed("a", 2))}}
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key")
	require.NoError(t, err)
	dir := t.TempDir()

	to := openSQLite(t, filepath.Join(dir, "copy.db"))
	_, err = catalogcopy.Sync(t.Context(), client, to, "SE", "en-US", false)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "copy.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	var name string
	require.NoError(t,
		db.QueryRowContext(t.Context(), "SELECT record ->> 'name' FROM products WHERE available AND id = 'a'").Scan(&name))
	require.Equal(t, "Gift a", name)

	lines := openNDJSON(t, filepath.Join(dir, "copy.ndjson"))
	_, err = catalogcopy.Sync(t.Context(), client, lines, "SE", "en-US", false)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "copy.ndjson"))
	require.NoError(t, err)
	require.Regexp(t, `^\{.*"id":"a".*\}\n\{.*"id":"b".*\}\n$`, string(content))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "copy.ndjson"), []byte("{"), 0o600))
	_, err = catalogcopy.NDJSON(filepath.Join(dir, "copy.ndjson"))
	require.ErrorContains(t, err, "copy.ndjson")
}

func TestAFileThatIsNoDatabaseStaysAsItIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t,
		os.WriteFile(path, []byte("my notes, which are longer than a header of a database would have to be, so that it is read"), 0o600))
	_, err := catalogcopy.SQLite(t.Context(), path)
	require.Error(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), "my notes")
}
