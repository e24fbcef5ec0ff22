package orders

import (
	"context"
	"io"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/orders/internal/resealing"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const resealBatch = 500

// Reseal seals all delivery details again under the ring's first key while the service runs, and
// tells its progress on out. Once it has succeeded no order needs another key.
func Reseal(ctx context.Context, cfg Config, out io.Writer) error {
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	return resealing.Run(ctx, store.New(pool, ring), resealBatch, out)
}
