package reservations

import (
	"context"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// releaseCancelled tells catalog of the units that cancelled orders held. A crash anywhere in it is
// met by telling again: catalog returns a hold's unit once.
func (r *Recovery) releaseCancelled(ctx context.Context) error {
	for {
		holds, err := r.Store.Releasing(ctx, batch)
		if err != nil || len(holds) == 0 {
			return err
		}
		if err := r.release(ctx, holds); err != nil {
			return err
		}
		if len(holds) < batch {
			return nil
		}
	}
}

func (r *Recovery) release(ctx context.Context, holds []string) error {
	if _, err := r.Catalog.SettleReservations(ctx, &catalogv1.SettleReservationsRequest{ReleasedOrderIds: holds}); err != nil {
		return err
	}
	return r.Store.MarkReleased(ctx, holds)
}

// Release returns the unit of an order whose cancellation has committed, at once if it can; else
// Run does.
func (r *Recovery) Release(ctx context.Context, hold string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpDeadline)
	defer cancel()
	if err := r.release(ctx, []string{hold}); err != nil {
		r.Log.WarnContext(ctx, "release stock", "hold", hold, "error", err)
	}
}
