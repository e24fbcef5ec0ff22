//go:build planted

package relay

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
)

// sabotage breaks the relay on purpose, to prove that the check of the whole platform notices. PLANTED_BUG says how: slow
// reads the sources at different times, which is allowed; uncut does so without the cut at T; lose
// takes rows for published that were not.
func sabotage(r *Relay) {
	fault := os.Getenv("PLANTED_BUG")
	if fault == "lose" {
		r.publisher = forgetful{r.publisher}
		return
	}
	r.withoutCut = fault == "uncut"
	r.aroundRead = func(ctx context.Context, source int, read func() error) error {
		if source > 0 {
			pause(ctx, rand.N(200*time.Millisecond), nil) //nolint:gosec // Any time will do.
		}
		return read()
	}
}

const forgottenIn = 50

type forgetful struct{ Publisher }

func (f forgetful) Publish(ctx context.Context, msgs []kafka.Message) error {
	kept := make([]kafka.Message, 0, len(msgs))
	for _, m := range msgs {
		if rand.N(forgottenIn) > 0 { //nolint:gosec // Any row will do.
			kept = append(kept, m)
		}
	}
	return f.Publisher.Publish(ctx, kept)
}
