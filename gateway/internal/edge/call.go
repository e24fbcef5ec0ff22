package edge

import (
	"context"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

// call is what the checks have found out about a request. It travels in the request's context to
// the client interceptor that sends it to the service.
type call struct {
	op        *operation.Operation
	principal caller.Principal
	request   caller.Request
	body      []byte
	// fault is the problem the service answered with; empty: none.
	fault problem.Code
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// body is a request body that takes back the faults its decoder finds: grpc-gateway passes a
// decoder's error on as text only.
type body struct {
	reader
	call *call
}

type reader interface {
	Read(p []byte) (int, error)
}

// AddViolations implements what the JSON codec hands its findings to. A member of the body that has
// the name of a field of the path is an unknown one.
func (b *body) AddViolations(found []problem.Violation) {
	for _, v := range found {
		if !b.call.inPath(v.Field) {
			b.call.request.Violations = append(b.call.request.Violations, v)
		}
	}
}

func (c *call) inPath(member string) bool {
	return slices.ContainsFunc(c.op.PathFields, func(name string) bool {
		return c.op.Request.Descriptor().Fields().ByName(protoreflect.Name(name)).JSONName() == member
	})
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }
