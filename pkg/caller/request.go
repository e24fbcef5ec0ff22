package caller

import (
	"context"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Request is what the edge knows of an HTTP request. The zero value is for a call that did not
// come through the edge.
type Request struct {
	// IdempotencyKey is empty where the method takes none.
	IdempotencyKey string
	// Fingerprint is a keyed hash of method, path, query and canonical body.
	Fingerprint []byte
	// Violations were found while decoding the body and the query.
	Violations []problem.Violation
	// ID is answered as Request-Id.
	ID string
}

type requestKey struct{}

// WithRequest returns a context that carries r.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom returns the request of the context, or the zero value.
func RequestFrom(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

func requestFromProto(p *commonv1.Request) Request {
	r := Request{
		IdempotencyKey: p.GetIdempotencyKey(),
		Fingerprint:    p.GetFingerprint(),
		ID:             p.GetRequestId(),
	}
	for _, v := range p.GetViolations() {
		r.Violations = append(r.Violations, problem.Violation{Field: v.GetField(), Code: v.GetCode(), Message: v.GetMessage()})
	}
	return r
}

func (r Request) proto() *commonv1.Request {
	p := &commonv1.Request{IdempotencyKey: r.IdempotencyKey, Fingerprint: r.Fingerprint, RequestId: r.ID}
	for _, v := range r.Violations {
		p.Violations = append(p.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	return p
}
