package testenv

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Run runs what ends with its context, until stop is called or the test ends. It fails the test unless run returns nil.
func Run(t testing.TB, run func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}
