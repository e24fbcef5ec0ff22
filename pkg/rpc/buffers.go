package rpc

import (
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

// The buffers of messages have 2^8 to 2^20 bytes.
const (
	smallestBuffer = 8
	largestBuffer  = 20
)

// The pool can be set only while programs initialize. gRPC's own one has nothing between 32 KB and 1 MB, and it clears a buffer
// before each use. For a page of 50 events the client and the server would each clear a megabyte, a seventh of what it costs them.
func init() {
	var exponents []uint8
	for e := uint8(smallestBuffer); e <= largestBuffer; e++ {
		exponents = append(exponents, e)
	}
	pool, err := mem.NewBinaryTieredBufferPool(exponents...)
	if err != nil {
		panic(err) // Only sizes beyond the address space are refused.
	}
	experimental.SetDefaultBufferPool(pool)
}
