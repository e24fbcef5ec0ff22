package e2e_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listPaths are all lists in pages, with what each needs.
func listPaths() map[string]string {
	return map[string]string{
		"/orders": "?", "/personal-links": "?", "/catalog/products": "?country=SE&", "/campaigns": "?", "/events": "?",
	}
}

// invalid demands that a read is refused for the fault.
func (s *shop) invalid(t *testing.T, path, fault string) {
	t.Helper()
	problem := requireProblem(t, s.get(t, s.key, path), http.StatusBadRequest, "invalid_request")
	require.Equal(t, []string{fault}, faults(t, problem), path)
}

func (s *shop) promisesOfLists(t *testing.T, order map[string]any) {
	t.Run("a list takes limit from 1 to 100 and no other", func(t *testing.T) {
		for path, query := range listPaths() {
			for _, limit := range []string{"0", "101", "-1", "x", "1.5"} {
				s.invalid(t, path+query+"limit="+limit, "limit invalid")
			}
			for _, limit := range []string{"1", "100"} {
				require.Equal(t, http.StatusOK, s.get(t, s.key, path+query+"limit="+limit).status)
			}
		}
	})
	t.Run("an unknown cursor is an invalid request", func(t *testing.T) {
		for path, query := range listPaths() {
			for _, cursor := range []string{"x", "bm8", rand.Text()} {
				s.invalid(t, path+query+"after="+cursor, "after invalid")
			}
		}
	})
	t.Run("a list in pages has items and nextCursor", func(t *testing.T) {
		for path, query := range listPaths() {
			require.ElementsMatch(t, []string{"items", "nextCursor"}, namesOf(s.read(t, path+query+"limit=1")), path)
		}
	})
	t.Run("brands, categories and messages are plain arrays", func(t *testing.T) {
		for _, path := range []string{"/brands", "/catalog/categories", "/orders/" + idOf(order) + "/messages"} {
			require.True(t, strings.HasPrefix(s.get(t, s.key, path).body, "["), path)
		}
	})
	t.Run("following nextCursor until null reads the whole list once", func(t *testing.T) {
		want := ids([]map[string]any{order})
		for range 4 {
			want = append(ids([]map[string]any{s.place(t)}), want...)
		}
		all := ids(s.all(t, s.key, "/orders?limit=1"))
		require.Subset(t, all, want)
		require.Equal(t, ids(s.all(t, s.key, "/orders?limit=100")), all)
	})
	s.promisesOfTimes(t)
}

// promisesOfTimes is of those in queries.
func (s *shop) promisesOfTimes(t *testing.T) {
	t.Run("a time with Z is taken", func(t *testing.T) {
		require.NotEmpty(t, s.list(t, s.key, "/orders?updatedSince=2026-01-01T00:00:00Z"))
		require.Empty(t, s.list(t, s.key, "/orders?updatedSince=2100-01-01T00:00:00.000001Z"))
	})
	t.Run("a time whose plus is encoded is taken", func(t *testing.T) {
		require.NotEmpty(t, s.list(t, s.key, "/orders?updatedSince=2026-01-01T00:00:00%2B02:00"))
	})
	t.Run("a plus that is not encoded is an invalid request", func(t *testing.T) {
		for _, path := range []string{"/orders?", "/personal-links?", "/catalog/products?country=SE&"} {
			s.invalid(t, path+"updatedSince=2026-01-01T00:00:00+02:00", "updatedSince invalid")
		}
	})
}
