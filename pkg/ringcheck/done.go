package ringcheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/postgres"
)

// ErrInUse means that an older key must stay in the ring.
var ErrInUse = errors.New("an older key is still needed: restart the service with the new ring, and re-encrypt again")

// Done checks, after a re-encryption, that each column of the ring needs only the first key. It finds a column that the
// re-encryption does not know, and values that an instance with an older ring has sealed since.
func Done(ctx context.Context, database postgres.Config, ring Ring) error {
	pool, err := postgres.Open(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := find(ctx, pool, []Ring{ring})
	if err != nil {
		return fmt.Errorf("list the keys in use: %w", err)
	}
	first := keyID(ring.keys.Prefix())
	for _, use := range all.uses {
		if use.keyID != first {
			err = errors.Join(err, fmt.Errorf("%w: %s has values sealed with key %q", ErrInUse, use.column, use.keyID))
		}
	}
	return err
}
