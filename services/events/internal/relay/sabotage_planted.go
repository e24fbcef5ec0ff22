//go:build planted

package relay

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/kafka"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// sabotage breaks the relay on purpose, to prove that the check of the whole platform notices. PLANTED_BUG says how: slow
// reads the sources at different times, which is allowed; uncut does so without the cut at T; lose
// takes rows for published that were not; again publishes rows twice, as two events.
func sabotage(r *Relay) {
	fault := os.Getenv("PLANTED_BUG")
	switch fault {
	case "lose":
		r.publisher = forgetful{r.publisher}
		return
	case "again":
		r.publisher = repeating{r.publisher}
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

// One row in so many is forgotten or repeated.
const oneIn = 50

type forgetful struct{ Publisher }

func (f forgetful) Publish(ctx context.Context, msgs []kafka.Message) error {
	kept := make([]kafka.Message, 0, len(msgs))
	for _, m := range msgs {
		if rand.N(oneIn) > 0 { //nolint:gosec // Any row will do.
			kept = append(kept, m)
		}
	}
	return f.Publisher.Publish(ctx, kept)
}

type repeating struct{ Publisher }

func (r repeating) Publish(ctx context.Context, msgs []kafka.Message) error {
	repeated := make([]kafka.Message, 0, 2*len(msgs))
	for _, m := range msgs {
		repeated = append(repeated, m)
		if rand.N(oneIn) > 0 { //nolint:gosec // Any row will do.
			continue
		}
		var c eventsv1.Change
		if err := proto.Unmarshal(m.Value, &c); err != nil {
			return err
		}
		c.EventId = uuid.Must(uuid.NewV7()).String()
		value, err := proto.Marshal(&c)
		if err != nil {
			return err
		}
		m.Value = value
		repeated = append(repeated, m)
	}
	return r.Publisher.Publish(ctx, repeated)
}
