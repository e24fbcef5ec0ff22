package edge

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

const (
	// callTimeout bounds a call of the owning service. A webhook test takes longest: it waits for the receiver.
	callTimeout = 12 * time.Second
	// replayedHeader marks a response that an earlier request has stored.
	replayedHeader = "Idempotent-Replayed"
	// positionHeader marks a page of events that reaches the end of the feed.
	positionHeader = "Feed-Position"
)

// Connections to the services of the public plane. Each must have the interceptor Send. All but Tenants go to the cell that the
// context of a call names.
type Connections struct {
	Tenants, Catalog, Orders, PersonalLinks, Events, Webhook grpc.ClientConnInterface
}

// register lets grpc-gateway serve one of the services of the public plane.
type register func(ctx context.Context, mux *runtime.ServeMux) error

// served returns the register of a service, from the functions that are generated for it.
func served[Client any](
	handle func(context.Context, *runtime.ServeMux, Client) error,
	newClient func(grpc.ClientConnInterface) Client, conn grpc.ClientConnInterface,
) register {
	return func(ctx context.Context, mux *runtime.ServeMux) error { return handle(ctx, mux, newClient(conn)) }
}

// setQueryParser sets grpc-gateway's parser of query parameters. The library keeps it in a variable of its package, so
// several gateways in one process must not each set it.
var setQueryParser = sync.OnceFunc(func() { runtime.NewServeMux(runtime.SetQueryParameterParser(restjson.QueryParser{})) })

// NewServices makes the handler that turns a checked request into a gRPC call and back, by grpc-gateway. base is the base address
// of the API as callers see it. The operations of the sandbox are only in the handler of that environment.
func NewServices(ctx context.Context, c Connections, base string, environment apikey.Environment) (http.Handler, error) {
	setQueryParser()
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, restjson.Marshaler{}),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithOutgoingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithForwardResponseOption(writeSuccess(base)),
		runtime.WithErrorHandler(keepError),
		// Otherwise a body that is larger than the server's buffer is sent in chunks, whose end takes a write of its own.
		runtime.WithWriteContentLength(),
	)
	services := []register{
		served(tenantsv1.RegisterTenantsServiceHandlerClient, tenantsv1.NewTenantsServiceClient, c.Tenants),
		served(catalogv1.RegisterCatalogServiceHandlerClient, catalogv1.NewCatalogServiceClient, c.Catalog),
		served(ordersv1.RegisterOrdersServiceHandlerClient, ordersv1.NewOrdersServiceClient, c.Orders),
		served(personallinksv1.RegisterPersonalLinksServiceHandlerClient, personallinksv1.NewPersonalLinksServiceClient, c.PersonalLinks),
		served(eventsv1.RegisterEventsServiceHandlerClient, eventsv1.NewEventsServiceClient, c.Events),
		served(webhookv1.RegisterWebhookServiceHandlerClient, webhookv1.NewWebhookServiceClient, c.Webhook),
	}
	if environment == apikey.Sandbox {
		services = append(services,
			served(ordersv1.RegisterSandboxOrdersServiceHandlerClient, ordersv1.NewSandboxOrdersServiceClient, c.Orders),
			served(personallinksv1.RegisterSandboxPersonalLinksServiceHandlerClient,
				personallinksv1.NewSandboxPersonalLinksServiceClient, c.PersonalLinks),
			served(catalogv1.RegisterSandboxCatalogServiceHandlerClient, catalogv1.NewSandboxCatalogServiceClient, c.Catalog),
		)
	}
	for _, register := range services {
		if err := register(ctx, mux); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

func (h *Handler) callService(c *call) error {
	if c.waiting.asked > 0 {
		return h.answerHeld(c)
	}
	return h.callCell(c)
}

// forward passes on only path, query and body, to the cell of the principal. Services get the principal instead of the key, and no
// header of the caller sets a deadline.
func (h *Handler) forward(c *call) error {
	ctx, cancel := context.WithTimeout(caller.InCell(c.r.Context(), c.principal.Cell), callTimeout)
	defer cancel()
	out := (&http.Request{
		Method:        c.op.Method,
		URL:           &url.URL{Path: c.path, RawQuery: c.r.URL.RawQuery},
		Host:          c.r.Host,
		Proto:         c.r.Proto,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          &body{Reader: bytes.NewReader(c.body), call: c},
		ContentLength: int64(len(c.body)),
	}).WithContext(withCall(ctx, c))
	if c.isPost() {
		out.URL.RawQuery = "" // A POST takes its fields from path and body only.
	}
	h.Services.ServeHTTP(c.responseWriter(), out)
	return c.err
}

// body is a request body that receives the findings of its decoder. grpc-gateway would turn them into a text.
type body struct {
	*bytes.Reader
	call *call
}

// Bytes implements restjson.Body.
func (b *body) Bytes() []byte { return b.call.body }

// Bound implements restjson.Body.
func (b *body) Bound() []string { return b.call.op.PathFields }

// SetFindings implements restjson.Body.
func (b *body) SetFindings(found restjson.Findings) {
	b.call.request.Violations = append(b.call.request.Violations, found.Violations...)
	b.call.request.IgnoredMembers = found.Ignored
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Send is the interceptor of calls to services. It adds the principal and what the gateway knows about the request, including
// the violations in its body, and signs cursors. It also claims the Idempotency-Key, unless the owning service does so itself. The
// claim comes last, after all checks of the gateway.
func Send(register *idempotent.Register, cursors Cursors) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		c := callFrom(ctx)
		if c == nil {
			return invoke(ctx, method, req, reply, cc, opts...)
		}
		c.request.Violations = append(c.request.Violations, cursors.open(message(req))...)
		c.pass.Processed()
		out, err := caller.Outgoing(ctx, c.principal, c.request)
		if err != nil {
			return err
		}
		if c.request.IdempotencyKey == "" || register.Keeps(c.op.Owner) {
			if err := invoke(out, method, req, reply, cc, opts...); err != nil {
				return err
			}
			cursors.sign(message(reply))
			return nil
		}
		claim := &commonv1.ClaimKeyRequest{
			KeyId:             c.principal.KeyID,
			IdempotencyKey:    c.request.IdempotencyKey,
			Fingerprint:       c.request.Fingerprint,
			OtherFingerprints: c.request.OtherFingerprints,
			Owner:             c.op.Owner,
			ClaimId:           uuid.NewString(),
		}
		bare := withCall(ctx, nil) // Calls of the register carry no principal and no request. They go to the same cell.
		if err := register.Claim(bare, claim); err != nil {
			return err
		}
		err = invoke(out, method, req, reply, cc, opts...)
		register.ReleaseUnlessStored(bare, claim, err)
		return err
	}
}

// message is a request or answer of gRPC as what it always is.
func message(value any) proto.Message { return value.(proto.Message) } //nolint:forcetypeassert // All services use protobuf.

// writeSuccess writes the headers of a success. base is the base address of the API as callers see it.
func writeSuccess(base string) func(ctx context.Context, w http.ResponseWriter, answer proto.Message) error {
	return func(ctx context.Context, w http.ResponseWriter, answer proto.Message) error {
		if mustWait(ctx) {
			callFrom(ctx).waitFrom(answer)
			return errWait
		}
		copyHeaders(ctx, w)
		w.Header().Set("Cache-Control", "no-store")
		c := callFrom(ctx)
		if c == nil {
			return nil
		}
		c.waiting.slot.Release(ctx) // Before the caller has the answer: its next call may need the slot.
		if len(c.ignored) > 0 {
			w.Header().Set("Ignored-Parameters", namesOf(c.ignored))
		}
		if c.op.State != nil {
			c.state = c.op.State(answer)
		}
		if c.op.Created != nil {
			w.Header().Set("Location", base+c.op.Created(c.path, answer))
		}
		if c.op.Success != http.StatusOK {
			w.WriteHeader(c.op.Success)
		}
		return nil
	}
}

// keepError leaves the error of a service to the pipeline.
func keepError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	if !errors.Is(err, errWait) {
		copyHeaders(ctx, w)
	}
	if c := callFrom(ctx); c != nil {
		c.err = err
	}
}

// copyHeaders writes the headers that the service has sent about its answer.
func copyHeaders(ctx context.Context, w http.ResponseWriter) {
	md, ok := runtime.ServerMetadataFromContext(ctx)
	if !ok {
		return
	}
	if len(md.HeaderMD.Get(caller.ReplayedHeader)) > 0 {
		w.Header().Set(replayedHeader, "true")
	}
	for _, action := range md.HeaderMD.Get(caller.SandboxHeader) {
		w.Header().Add(sandboxHeader, action)
	}
	if len(md.HeaderMD.Get(caller.FeedEndHeader)) > 0 {
		w.Header().Set(positionHeader, "end")
	}
}
