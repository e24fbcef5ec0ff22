package bench_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	// requestsOfKey stays below the limit of a key, 300 requests a minute.
	requestsOfKey = 290
	// keysAhead are made before anything is measured.
	keysAhead = 300
)

// keyring hands out API keys, each of which has its own rate limit.
type keyring struct {
	create func() (string, error)

	lock sync.Mutex
	free []string
}

func newKeyring(b *testing.B, tenant fixture.Tenant) *keyring {
	b.Helper()
	ctx := b.Context()
	k := &keyring{create: func() (string, error) {
		created, err := tenant.NewKey(ctx, "")
		return created.GetApiKey(), err
	}}
	for range keysAhead {
		key, err := k.create()
		require.NoError(b, err)
		k.free = append(k.free, key)
	}
	return k
}

func (k *keyring) take() (string, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if len(k.free) == 0 {
		return k.create()
	}
	key := k.free[0]
	k.free = k.free[1:]
	return key, nil
}

// cycle returns one order after the other, and begins again.
type cycle struct {
	last   atomic.Int64
	orders []string
}

func (c *cycle) next() string { return c.orders[c.last.Add(1)%int64(len(c.orders))] }
