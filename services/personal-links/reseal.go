package personallinks

import (
	"context"
	"fmt"
	"io"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Reseal seals everything of the links again under the ring's first key while the service runs, and
// tells its progress on out. Once it has succeeded, another key is needed only for the answers
// stored under it, which the idempotency retention ends.
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
	_, err = store.New(pool, ring).Reseal(ctx, func(r store.Resealed) {
		_, _ = fmt.Fprintf(out, "looked at %d links, sealed %d again\n", r.Seen, r.Sealed)
	})
	return err
}
