package sender_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// TestTheEndOfAnAttemptMakesRoomForTheNext has nobody but the attempts that end to wake the sender.
func TestTheEndOfAnAttemptMakesRoomForTheNext(t *testing.T) {
	for name, limit := range map[string]func(w *world){
		"of an endpoint":  func(w *world) { w.limits.PerEndpoint = 2 },
		"for all workers": func(w *world) { w.limits.Workers = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.limits.Poll = time.Hour
			limit(w)
			r := webhooktest.NewReceiver(t)
			r.Respond(webhooktest.Status(http.StatusNoContent))
			w.directory.SetActive(1, r)
			const events = 25
			for range events {
				w.event(1)
			}
			w.start().Wake()
			require.Eventually(t, func() bool { return len(r.Arrivals()) == events }, soon, often)
			require.LessOrEqual(t, r.MostAtOnce(), 2)
		})
	}
}
