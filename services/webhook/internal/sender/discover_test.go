package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// Searches fail while a snapshot has been open for very long.
func TestFirstAttemptsDoNotNeedASearch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.noSearch = true
	f.receiver(7)
	s := f.start()
	id := f.event(7)
	s.Notify(f.due(7))
	f.waitFor(id, 7, inState("DELIVERED"))

	// The database was restored.
	_, err := f.pool.Exec(t.Context(), "DELETE FROM senders WHERE id = $1", s.id)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var registered int
		err := f.pool.QueryRow(t.Context(), "SELECT count(*) FROM senders WHERE id = $1", s.id).Scan(&registered)
		return err == nil && registered == 1
	}, waitLimit, pollInterval)
	id = f.event(7)
	s.Notify(f.due(7))
	f.waitFor(id, 7, inState("DELIVERED"))
}

func TestARetryIsFoundWhenItIsDueWithoutPolling(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Poll, f.heartbeat = 10*time.Millisecond, time.Hour
	r := f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	first := f.start()
	id := f.event(7)
	first.Wake()
	next := f.waitFor(id, 7, attempted(1)).Next
	first.stop()
	require.NoError(t, first.wait())

	// The next search of a new instance is when its first one said that the retry is due.
	f.clock.set(next.Add(-200 * time.Millisecond))
	r.Respond(webhooktest.Status(http.StatusOK))
	s := f.start()
	require.Eventually(t, s.registered.Load, waitLimit, pollInterval)
	f.clock.set(*next)
	require.Equal(t, 2, f.waitFor(id, 7, inState("DELIVERED")).Attempts)
}

func TestTheTimeOfTheNextSearch(t *testing.T) {
	t.Parallel()
	s := &Sender{cfg: Config{Poll: time.Second}, heartbeat: 5 * time.Second}
	for name, c := range map[string]struct {
		found store.Discovery
		want  time.Duration
	}{
		"nothing is pending":         {store.Discovery{}, 5 * time.Second},
		"something is due soon":      {store.Discovery{NextDue: 3 * time.Second}, 3 * time.Second},
		"it is due at once":          {store.Discovery{NextDue: time.Millisecond}, time.Second},
		"it is due much later":       {store.Discovery{NextDue: time.Hour}, 5 * time.Second},
		"something is due and waits": {store.Discovery{Due: []store.Due{{}}, NextDue: time.Hour}, time.Second},
	} {
		require.Equal(t, c.want, s.nextSearch(c.found), name)
	}
}
