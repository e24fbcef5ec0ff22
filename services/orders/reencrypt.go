package orders

import (
	"context"
	"io"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Reencrypt moves all delivery details to the first of the seal keys while the service runs. After it
// has succeeded no order needs another key.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	return reencrypt.Run(ctx, cfg.Database, cfg.SealKeys, store.SealedColumns(), out)
}
