package rpc

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"
)

// RegisterService implements grpc.ServiceRegistrar. gRPC decodes a request before its interceptors run, so a method's handler is
// wrapped: the call is observed and its caller checked before a byte is decoded. Streams need no wrapping, because their handlers
// receive inside the interceptors.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	guarded := *desc
	guarded.Methods = slices.Clone(desc.Methods)
	for i, method := range guarded.Methods {
		guarded.Methods[i].Handler = s.guard(desc.ServiceName, method)
	}
	for _, method := range desc.Streams {
		s.streaming["/"+desc.ServiceName+"/"+method.StreamName] = true
	}
	s.Server.RegisterService(&guarded, impl)
}

func (s *Server) guard(service string, method grpc.MethodDesc) grpc.MethodHandler {
	info := &grpc.UnaryServerInfo{FullMethod: "/" + service + "/" + method.MethodName}
	return func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		handle := func(ctx context.Context, _ any) (any, error) {
			if err := s.gate.admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return method.Handler(srv, ctx, decode, intercept)
		}
		s.begun.Add(1)
		s.calls.Add(1)
		defer s.calls.Add(-1)
		return s.observer.serve(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
			return recovery(ctx, nil, info, handle)
		})
	}
}

// serverDeadline bounds a call whose caller set none.
const serverDeadline = 15 * time.Second

// deadline bounds a call whose caller set none, except a stream, which may be open for ever. It begins with the call's headers, so
// that a caller who announces a message must also send it.
func (s *Server) deadline(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, set := ctx.Deadline(); set || s.streaming[info.FullMethodName] {
		return ctx, nil
	}
	ctx, cancel := context.WithTimeout(ctx, serverDeadline)
	context.AfterFunc(ctx, cancel)
	return ctx, nil
}
