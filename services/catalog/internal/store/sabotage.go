//go:build !planted

package store

import "context"

// sabotage does nothing: only the build tag planted makes a warehouse that sells more than it has on purpose.
func (s *Store) sabotage(context.Context, Reservation) error { return nil }
