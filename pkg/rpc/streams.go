package rpc

import (
	"context"

	"google.golang.org/grpc"
)

// untilEnd ends a stream with the lame duck, by its context. A unary call ends by itself, but a
// client that watches health never leaves, and would delay the end by the whole DrainTimeout.
func (s *Server) untilEnd(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	return next(srv, endingStream{ServerStream: stream, ctx: ctx})
}

// endingStream is a stream with another context.
type endingStream struct {
	grpc.ServerStream

	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s endingStream) Context() context.Context { return s.ctx }
