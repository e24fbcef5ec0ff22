package rpc

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// RegisterService implements grpc.ServiceRegistrar. gRPC decodes a request before its interceptors run, so a method's handler is
// wrapped: the call is observed, its caller checked and its size taken from the budget before a byte is decoded. Streams need no
// wrapping, because their handlers receive inside the interceptors.
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
	most := largestRequest(service, method.MethodName)
	return func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		handle := func(ctx context.Context, _ any) (any, error) {
			if err := s.gate.admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			in := &incoming{budget: s.messages, most: declaredSize(ctx, most)}
			if in.most > most {
				return nil, in.tooLarge(in.most, most)
			}
			if err := in.reserve(ctx); err != nil {
				return nil, err
			}
			defer in.release()
			return method.Handler(srv, ctx, func(to any) error { return in.receive(decode, to) }, intercept)
		}
		s.begun.Add(1)
		s.calls.Add(1)
		defer s.calls.Add(-1)
		return s.observer.serve(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
			return recovery(ctx, nil, info, handle)
		})
	}
}

// incoming is the request message of a call.
type incoming struct {
	budget *messages
	// most is the largest size that is accepted.
	most, held int64
	message    any
	err        error
}

func (in *incoming) reserve(ctx context.Context) error {
	if err := in.budget.reserve(ctx, in.most); err != nil {
		return err
	}
	in.held = in.most
	return nil
}

func (in *incoming) release() { in.budget.give(in.held) }

func (in *incoming) receive(decode func(any) error, to any) error {
	in.message = to
	if err := decode(in); err != nil {
		return err
	}
	return in.err
}

// arrived keeps of the reservation what the message needs.
func (in *incoming) arrived(size int64) {
	if size > in.most {
		in.err = in.tooLarge(size, in.most)
		return
	}
	needed := min(max(size, leastMessage), in.held)
	in.budget.give(in.held - needed)
	in.held = needed
}

func (*incoming) tooLarge(size, most int64) error {
	return status.Errorf(codes.ResourceExhausted, "the message is larger than allowed: %d bytes, at most %d", size, most)
}

// sizing is the codec of a server. It sees a message between its arrival and its decoding.
type sizing struct{ codec }

// Unmarshal implements encoding.CodecV2. The error of a message that is too large stays in it, because gRPC would report any
// error of a codec as INTERNAL.
func (c sizing) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	if !ok {
		return c.codec.Unmarshal(data, v)
	}
	if in.arrived(int64(data.Len())); in.err != nil {
		return nil
	}
	return c.codec.Unmarshal(data, in.message)
}

// serverDeadline bounds a call whose caller set none.
const serverDeadline = 15 * time.Second

// deadline bounds a call whose caller set none, except a stream, which may be open for ever. It begins with the call's headers, so
// that a caller who announces a message and does not send it keeps no room from others.
func (s *Server) deadline(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, set := ctx.Deadline(); set || s.streaming[info.FullMethodName] {
		return ctx, nil
	}
	ctx, cancel := context.WithTimeout(ctx, serverDeadline)
	context.AfterFunc(ctx, cancel)
	return ctx, nil
}
