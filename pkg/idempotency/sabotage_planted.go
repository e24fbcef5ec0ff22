//go:build planted

package idempotency

import (
	crand "crypto/rand"
	"math/rand/v2"
	"os"
)

const mistakenIn = 20

// sabotage takes a request for another one at times, when PLANTED_BUG is twice, so that it has a second effect when it is
// repeated.
func sabotage(r Request) Request {
	if os.Getenv("PLANTED_BUG") == "twice" && rand.N(mistakenIn) == 0 { //nolint:gosec // Any request will do.
		r.Key = crand.Text()
	}
	return r
}
