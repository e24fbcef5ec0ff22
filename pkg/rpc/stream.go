package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// builtInServices is how the names of gRPC's own services begin: reflection and health. Their streams are not observed, and no
// caller is read for them.
const builtInServices = "/grpc."

func isBuiltIn(method string) bool { return strings.HasPrefix(method, builtInServices) }

// serveStream makes a span of a stream of a service. Its duration is no measure of the service, so it is not among those of calls.
// It also recovers a panic of the interceptors inside it.
func (o *observer) serveStream(
	srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) (err error) {
	if isBuiltIn(info.FullMethod) {
		return next(srv, stream)
	}
	ctx, span := o.start(extract(stream.Context()), info.FullMethod)
	defer func() {
		code := status.Code(err)
		endSpan(span, code, code != grpccodes.Unavailable && serverError(code)) // At shutdown every stream ends with UNAVAILABLE.
	}()
	defer hidePanic(&err)
	return next(srv, contextStream{stream, ctx})
}

// untilEnd cancels streams when LameDuck is over. A client that watches health never ends its stream and would delay the end by
// the whole DrainTimeout.
func (s *Server) untilEnd(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	return next(srv, contextStream{stream, ctx})
}

// contextStream is a stream with another context.
type contextStream struct {
	grpc.ServerStream

	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s contextStream) Context() context.Context { return s.ctx }

// serveStream does for a stream what the unary interceptors do for a call: gate (for whom), caller, errors.
func (s *Server) serveStream(collectors []string) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if isBuiltIn(info.FullMethod) {
			return next(srv, stream)
		}
		ctx, err := withCaller(stream.Context(), info.FullMethod, collectors)
		if err != nil {
			return render(ctx, s.log, info.FullMethod, err)
		}
		received := &receivingStream{contextStream: contextStream{stream, ctx}, server: s, method: info.FullMethod}
		err = streamRecovered(srv, received, next)
		switch {
		case err == nil:
			return nil
		case received.err != nil:
			return received.err
		case s.streams.Err() != nil:
			return status.Error(grpccodes.Unavailable, "This instance is shutting down.")
		}
		return render(ctx, s.log, info.FullMethod, err)
	}
}

func streamRecovered(srv any, stream grpc.ServerStream, next grpc.StreamHandler) (err error) {
	defer asError(&err)
	return next(srv, stream)
}

// receivingStream checks for whom each message acts, and whether it is known completely.
type receivingStream struct {
	contextStream

	server *Server
	method string
	// err is why no message was received, as gRPC or the gate has put it.
	err error
}

// RecvMsg implements grpc.ServerStream.
func (s *receivingStream) RecvMsg(to any) error {
	if s.err = s.ServerStream.RecvMsg(to); s.err != nil {
		return s.err
	}
	if from := callerOf(s.ctx); !s.server.gate.open && !from.mayActAs(to) {
		s.err = s.server.gate.refusal(s.ctx, actorNotAllowed, from, s.method)
	} else if err := checkKnown(to); err != nil {
		s.err = render(s.ctx, s.server.log, s.method, err)
	}
	return s.err
}

// openStream is the client's interceptor of streams: the call carries the trace, and its errors are problems.
func (o *olderPeers) openStream(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(inject(ctx), desc, cc, method, opts...)
	if err != nil {
		return nil, o.asCallError(ctx, method, err)
	}
	return errorStream{ClientStream: stream, method: method, peers: o}, nil
}

type errorStream struct {
	grpc.ClientStream

	method string
	peers  *olderPeers
}

// RecvMsg implements grpc.ClientStream.
func (s errorStream) RecvMsg(to any) error {
	return s.peers.asCallError(s.Context(), s.method, s.ClientStream.RecvMsg(to))
}
