package personallinks

import (
	"context"
	"io"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Reencrypt moves all sealed values of the links to the first of the seal keys while the service
// runs. After it has succeeded, another key is needed only for the stored answers that were sealed
// under it, until their retention ends.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	return reencrypt.Run(ctx, cfg.Database, cfg.SealKeys, store.SealedColumns(), out)
}
