//go:build faults

package faults_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
)

const (
	// deadEndpoints get every event of a tenant and never answer.
	deadEndpoints = 4
	deadPath      = "/dead"
	// dropTime is how long the deliveries of a revoked key may be pending: longer than an attempt in flight, and shorter than the
	// wait for the next one.
	dropTime = 40 * time.Second
)

// fewWorkers are fewer than the dead endpoints would hold if each had all of its slots.
var fewWorkers = []string{"GIFTING_WEBHOOK_WORKERS=16"}

// addDeadEndpoints makes keys whose receivers never answer.
func (f *fixture) addDeadEndpoints(t *testing.T) {
	t.Helper()
	for i := range deadEndpoints {
		r := f.newReader(t, fmt.Sprintf("dead %d", i), seed.Direct, "", allScopes...)
		f.setWebhook(t, r, f.receivers+deadPath)
		f.dead = append(f.dead, r)
	}
}

// neverAnswer holds a request until its sender gives up.
func neverAnswer(t *testing.T) http.HandlerFunc {
	t.Helper()
	ended := t.Context().Done()
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}
}

// checkDropped revokes the keys of the dead endpoints. All that was not delivered to them is then dropped.
func (f *fixture) checkDropped(t *testing.T) {
	t.Helper()
	began, queue := time.Now(), f.connect(t, "webhook")
	for _, r := range f.dead {
		f.revoke(t.Context(), r)
	}
	for _, r := range f.dead {
		pending := -1
		dropped := waitFor(dropTime, func() bool {
			err := queue.QueryRow(t.Context(), "SELECT count(*) FROM deliveries WHERE key_id = $1 AND state = 'PENDING'",
				r.keyID).Scan(&pending)
			require.NoError(t, err)
			return pending == 0
		})
		f.require(dropped, delivery, began, time.Now(), "%d webhooks of the revoked key %d are pending", pending, r.keyID)
	}
}
