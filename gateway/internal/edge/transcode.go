package edge

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// Services are connections to the services behind the public plane. Each must have SendCaller
// among its interceptors.
type Services struct {
	Tenants, Catalog, Orders, PersonalLinks, Events, Webhook *grpc.ClientConn
}

// NewTranscoder makes the handler that turns a checked request into a gRPC call and back.
func NewTranscoder(ctx context.Context, s Services, p problems.Writer, log *slog.Logger) (http.Handler, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, restjson.Marshaler{}),
		runtime.SetQueryParameterParser(restjson.QueryParser{}),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithOutgoingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithForwardResponseOption(writeSuccess),
		runtime.WithErrorHandler(errorHandler(p, log)),
	)
	for _, register := range []func() error{
		func() error { return tenantsv1.RegisterTenantsServiceHandler(ctx, mux, s.Tenants) },
		func() error { return catalogv1.RegisterCatalogServiceHandler(ctx, mux, s.Catalog) },
		func() error { return ordersv1.RegisterOrdersServiceHandler(ctx, mux, s.Orders) },
		func() error { return personallinksv1.RegisterPersonalLinksServiceHandler(ctx, mux, s.PersonalLinks) },
		func() error { return eventsv1.RegisterEventsServiceHandler(ctx, mux, s.Events) },
		func() error { return webhookv1.RegisterWebhookServiceHandler(ctx, mux, s.Webhook) },
	} {
		if err := register(); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

// SendCaller sends the principal and what the edge knows of the request with each call. It runs
// after the request was decoded, so that the faults found in the body go along.
func SendCaller(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	c := callFrom(ctx)
	if c == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	ctx, err := caller.Outgoing(ctx, c.principal, c.request)
	if err != nil {
		return err
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

func writeSuccess(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	markReplay(ctx, w)
	w.Header().Set("Cache-Control", "no-store")
	if c := callFrom(ctx); c != nil && c.op.Success != http.StatusOK {
		w.WriteHeader(c.op.Success)
	}
	return nil
}

// replayedHeader marks an answer that was stored by an earlier request.
const replayedHeader = "Idempotent-Replayed"

func markReplay(ctx context.Context, w http.ResponseWriter) {
	md, ok := runtime.ServerMetadataFromContext(ctx)
	if ok && len(md.HeaderMD.Get(caller.ReplayedHeader)) > 0 {
		w.Header().Set(replayedHeader, "true")
	}
}

func errorHandler(writer problems.Writer, log *slog.Logger) runtime.ErrorHandlerFunc {
	return func(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
		p, ok := problem.As(err)
		if !ok {
			p = problem.Internal()
		}
		var requestID string
		if c := callFrom(ctx); c != nil {
			requestID, c.fault = c.request.ID, p.Code
		}
		if p.Code == problem.InternalError || p.Code == problem.ServiceUnavailable {
			log.WarnContext(ctx, "service call failed", "error", err)
		}
		markReplay(ctx, w)
		writer.Write(w, requestID, p)
	}
}
