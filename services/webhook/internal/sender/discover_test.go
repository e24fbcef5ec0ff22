package sender

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Searches fail while a snapshot has been open for very long.
func TestFirstAttemptsDoNotNeedASearch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.noSearch = true
	f.receiver(7)
	s := f.start()
	id, _ := f.event(7)
	s.Notify(f.due(7))
	f.until(id, 7, inState("DELIVERED"))

	// The database was restored.
	_, err := f.pool.Exec(t.Context(), "DELETE FROM senders WHERE id = $1", s.id)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var registered bool
		return f.pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM senders WHERE id = $1)", s.id).Scan(&registered) == nil && registered
	}, waitLimit, pollInterval)
	id, _ = f.event(7)
	s.Notify(f.due(7))
	f.until(id, 7, inState("DELIVERED"))
}
