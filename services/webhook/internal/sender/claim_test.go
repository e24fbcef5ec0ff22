package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// After its start the sender is woken only by the attempts that end.
func TestTheEndOfAnAttemptFreesASlotForTheNext(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(f *fixture){
		"of an endpoint":  func(f *fixture) { f.cfg.PerEndpoint = 2 },
		"for all workers": func(f *fixture) { f.cfg.Workers = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.cfg.Poll = time.Hour
			limit(f)
			r := f.receiver(1, webhooktest.Status(http.StatusNoContent))
			const events = 25
			for range events {
				f.event(1)
			}
			f.start().Wake()
			require.Eventually(t, func() bool { return len(r.Arrivals()) == events }, waitLimit, pollInterval)
			require.LessOrEqual(t, r.MaxConcurrent(), 2)
		})
	}
}
