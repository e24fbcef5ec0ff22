// Package resealing seals the delivery details of all orders again under the active key, so that an
// older key can leave the ring.
package resealing

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Reasons why an older key is still needed.
var (
	// ErrBroken: some orders open with no key of the ring.
	ErrBroken = errors.New("some orders do not open with any key of the ring")
	// ErrNeverDone: a process that serves seals under an older key.
	ErrNeverDone = errors.New("orders are still being sealed under an older key: restart what serves with the new ring first")
)

// maxWalks bounds how often the walk begins anew because there was something to do.
const maxWalks = 5

// Run walks over all orders until a walk finds nothing to do. It holds no lock between its batches
// and undoes nobody's change, and can be ended and begun again at any time: what is done stays done.
func Run(ctx context.Context, orders *store.Store, batch int, out io.Writer) error {
	for range maxWalks {
		done, err := walk(ctx, orders, batch, out)
		if err != nil || done {
			return err
		}
	}
	return ErrNeverDone
}

// walk says whether it found nothing to do.
func walk(ctx context.Context, orders *store.Store, batch int, out io.Writer) (done bool, err error) {
	about, err := orders.EstimateOrders(ctx)
	if err != nil {
		return false, err
	}
	var seen, sealed, missed, broken int
	for at := store.FirstPlace; ; {
		step, err := orders.Reseal(ctx, at, batch)
		if err != nil {
			return false, err
		}
		seen, sealed, missed, broken = seen+step.Seen, sealed+step.Sealed, missed+step.Missed, broken+len(step.Broken)
		for _, id := range step.Broken {
			say(out, "order %s does not open\n", id)
		}
		say(out, "looked at %d of about %d orders, sealed %d again\n", seen, max(about, int64(seen)), sealed)
		if step.Seen < batch {
			break
		}
		at = step.Last
	}
	if broken > 0 && sealed+missed == 0 {
		return false, fmt.Errorf("%w: %d", ErrBroken, broken)
	}
	return sealed+missed == 0, nil
}

// say is progress only: that nobody reads it is no fault.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
