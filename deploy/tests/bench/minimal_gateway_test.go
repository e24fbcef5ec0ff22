package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// minimalGateway is the least that a gateway must do: for each request a script in Redis and one call of the orders service. It
// checks no key, writes no JSON, and has no telemetry.
type minimalGateway struct {
	Env       map[string]string
	Redis     string
	Principal caller.Principal
}

// minimalVariable makes a process of this program a minimalGateway, which it holds as JSON.
const minimalVariable = "GIFTING_BENCH_MINIMAL_GATEWAY"

// start starts the gateway in a process of its own and returns its URL.
func (g minimalGateway) start(b *testing.B) string {
	b.Helper()
	text, err := json.Marshal(g)
	require.NoError(b, err)
	_, addr := fixture.Again(b, minimalVariable+"="+string(text))
	return "http://" + addr
}

// serveMinimalGateway runs the gateway until the input ends. It writes its address first.
func serveMinimalGateway() error {
	var g minimalGateway
	if err := json.Unmarshal([]byte(os.Getenv(minimalVariable)), &g); err != nil {
		return err
	}
	options, err := redis.ParseURL(g.Redis)
	if err != nil {
		return err
	}
	conn, err := local.Dial(g.Env, "GIFTING_GRPC_ORDERS")
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	handler := g.read(redis.NewClient(options), ordersv1.NewOrdersServiceClient(conn))
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return server.Serve(listener)
}

var countRequest = redis.NewScript(`local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end
return n`)

func (g minimalGateway) read(limits *redis.Client, orders ordersv1.OrdersServiceClient) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		err := countRequest.Run(req.Context(), limits, []string{req.Header.Get("Authorization")}).Err()
		var ctx context.Context
		if err == nil {
			ctx, err = caller.Outgoing(req.Context(), g.Principal, caller.Request{ID: "minimal"})
		}
		var read *ordersv1.GetOrderResponse
		if err == nil {
			read, err = orders.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: strings.TrimPrefix(req.URL.Path, "/orders/")})
		}
		var body []byte
		if err == nil {
			body, err = proto.Marshal(read)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(body)
	}
}

// reader is a principal that may read all orders of the tenant.
func (f *ordersFixture) reader() caller.Principal {
	return caller.Principal{
		TenantID: f.tenant.ID, KeyID: 1, KeyName: "benchmark", AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	}
}

// minimalClients are clients of a minimal gateway.
func (f *ordersFixture) minimalClients(b *testing.B) []*fixture.Client {
	b.Helper()
	url := minimalGateway{Env: f.Env, Redis: f.Config.RedisURL, Principal: f.reader()}.start(b)
	p := &fixture.Platform{Env: map[string]string{"GIFTING_URL": url}}
	all := make([]*fixture.Client, clients)
	for i := range all {
		all[i] = p.NewClient(b, f.keys)
	}
	return all
}
