package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
)

func TestABufferIsLessThanTwiceAsLargeAsItsMessage(t *testing.T) {
	t.Parallel()
	pool := mem.DefaultBufferPool() // This package has replaced gRPC's own.
	for _, size := range []int{300, 5_000, 40_000, 70_000, 300_000, 1_000_000} {
		require.Less(t, cap(*pool.Get(size)), 2*size, "%d bytes", size)
	}
}
