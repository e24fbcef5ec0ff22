package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	protobuf "google.golang.org/protobuf/proto"
)

// codec writes and reads messages as gRPC's own codec does, with buffers of more sizes. The pool of gRPC has none between 32 KB and 1 MB,
// and clears the whole buffer whenever one is taken: for a page of 50 KB a megabyte, by the server and again by the client.
type codec struct{}

var _ encoding.CodecV2 = codec{}

// messageBuffers are of sizes from that of the smallest message that is pooled. They have no state of a call.
var messageBuffers = mem.NewTieredBufferPool(1<<11, 1<<12, 1<<13, 1<<14, 1<<15, 1<<16, 1<<17, 1<<18, 1<<19, 1<<20)

var errNotMessage = errors.New("not a message of protobuf")

// Name implements encoding.CodecV2. On the wire it is the codec of gRPC.
func (codec) Name() string { return proto.Name }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(protobuf.Message)
	if !ok {
		return nil, fmt.Errorf("%w: %T", errNotMessage, v)
	}
	size := protobuf.Size(m)
	options := protobuf.MarshalOptions{UseCachedSize: true} // A message does not change while it is sent.
	if mem.IsBelowBufferPoolingThreshold(size) {
		written, err := options.Marshal(m)
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(written)}, nil
	}
	buffer := messageBuffers.Get(size)
	if _, err := options.MarshalAppend((*buffer)[:0], m); err != nil {
		messageBuffers.Put(buffer)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buffer, messageBuffers)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(protobuf.Message)
	if !ok {
		return fmt.Errorf("%w: %T", errNotMessage, v)
	}
	whole := data.MaterializeToBuffer(messageBuffers)
	defer whole.Free()
	return protobuf.Unmarshal(whole.ReadOnlyData(), m)
}
