package caller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	principalHeader = "gifting-principal-bin"
	requestHeader   = "gifting-request-bin"

	// ReplayedHeader is set on a gRPC answer that was stored by an earlier call.
	ReplayedHeader = "gifting-replayed"

	// SandboxHeader is set on a gRPC answer that the sandbox made otherwise than production. It says what the sandbox does.
	SandboxHeader = "gifting-sandbox"

	// FeedEndHeader is set on a gRPC answer with a page that reaches the end of the event feed.
	FeedEndHeader = "gifting-feed-end"

	// FeedWaitHeader is set on a gRPC answer with an empty page of the event feed, if the caller wants to wait and only a new event
	// can fill the page.
	FeedWaitHeader = "gifting-feed-wait"
)

// headerPrefix is how the platform's own metadata begins.
const headerPrefix = "gifting-"

// CheckHeaders returns an *UnknownError if a caller sends metadata of the platform that this program does not know.
func CheckHeaders(sent metadata.MD) error {
	for name := range sent {
		if strings.HasPrefix(name, headerPrefix) && name != principalHeader && name != requestHeader {
			return &UnknownError{What: "metadata " + strconv.Quote(name)}
		}
	}
	return nil
}

// Outgoing returns a context whose gRPC calls carry p and r. Only the gateway calls it.
func Outgoing(ctx context.Context, p Principal, r Request) (context.Context, error) {
	principal, err := proto.Marshal(p.Proto())
	if err != nil {
		return nil, fmt.Errorf("encode principal: %w", err)
	}
	request, err := proto.Marshal(r.proto())
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return metadata.AppendToOutgoingContext(ctx,
		principalHeader, string(principal), requestHeader, string(request)), nil
}

// HasMetadata reports whether the metadata of a call has a principal or a request.
func HasMetadata(ctx context.Context) bool {
	return len(metadata.ValueFromIncomingContext(ctx, principalHeader)) > 0 ||
		len(metadata.ValueFromIncomingContext(ctx, requestHeader)) > 0
}

// Incoming moves principal and request from a call's metadata into its context. What this program does not know of them is an
// *UnknownError.
func Incoming(ctx context.Context) (context.Context, error) {
	if raw := metadata.ValueFromIncomingContext(ctx, principalHeader); len(raw) == 1 {
		var p commonv1.Principal
		if err := proto.Unmarshal([]byte(raw[0]), &p); err != nil {
			return nil, fmt.Errorf("decode principal: %w", err)
		}
		if err := CheckKnown(&p); err != nil {
			return nil, err
		}
		ctx = WithPrincipal(ctx, FromProto(&p))
	}
	if raw := metadata.ValueFromIncomingContext(ctx, requestHeader); len(raw) == 1 {
		var r commonv1.Request
		if err := proto.Unmarshal([]byte(raw[0]), &r); err != nil {
			return nil, fmt.Errorf("decode request: %w", err)
		}
		if err := CheckKnown(&r); err != nil {
			return nil, err
		}
		ctx = WithRequest(ctx, requestFromProto(&r))
	}
	return ctx, nil
}

// Request is what the edge knows of an HTTP request. The zero value is for a call that did not come through the edge.
type Request struct {
	// IdempotencyKey is empty if the method takes none.
	IdempotencyKey string
	// Fingerprint is a keyed hash of method, path, query and canonical body.
	Fingerprint []byte
	// OtherFingerprints are the hashes by the other keys of the gateway's key ring, which an earlier request may have.
	OtherFingerprints [][]byte
	// Violations were found while decoding the body and the query.
	Violations []problem.Violation
	// IgnoredMembers are the paths of the first members of the body that mean nothing to the method.
	IgnoredMembers []string
	// ID is returned in the header Request-Id.
	ID string
	// IfMatch is the condition of the header If-Match; nil without one.
	IfMatch *Condition
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

// RequestErrors starts with the violations that the edge found while decoding the request of ctx.
func RequestErrors(ctx context.Context) *fields.Errors {
	errs := &fields.Errors{}
	errs.AddAll(RequestFrom(ctx).Violations)
	return errs
}

func requestFromProto(p *commonv1.Request) Request {
	r := Request{
		IdempotencyKey:    p.GetIdempotencyKey(),
		Fingerprint:       p.GetFingerprint(),
		OtherFingerprints: p.GetOtherFingerprints(),
		IgnoredMembers:    p.GetIgnoredMembers(),
		ID:                p.GetRequestId(),
	}
	for _, v := range p.GetViolations() {
		r.Violations = append(r.Violations, problem.Violation{Field: v.GetField(), Code: v.GetCode(), Message: v.GetMessage()})
	}
	if c := p.GetIfMatch(); c != nil {
		r.IfMatch = &Condition{Any: c.GetAny(), Tags: c.GetTags()}
	}
	return r
}

func (r Request) proto() *commonv1.Request {
	p := &commonv1.Request{
		IdempotencyKey: r.IdempotencyKey, Fingerprint: r.Fingerprint, OtherFingerprints: r.OtherFingerprints, RequestId: r.ID,
		IgnoredMembers: r.IgnoredMembers,
	}
	for _, v := range r.Violations {
		p.Violations = append(p.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	if c := r.IfMatch; c != nil {
		// Protobuf transports only texts in UTF-8. No record has another tag.
		tags := slices.DeleteFunc(slices.Clone(c.Tags), func(tag string) bool { return !utf8.ValidString(tag) })
		p.IfMatch = &commonv1.IfMatch{Any: c.Any, Tags: tags}
	}
	return p
}
