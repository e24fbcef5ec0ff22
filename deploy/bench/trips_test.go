package bench_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// trip is where a round trip goes; none for a span that is not one.
type trip string

const (
	none       trip = ""
	overGRPC   trip = "grpc"
	toPostgres trip = "postgresql"
	toRedis    trip = "redis"
)

// tripOf tells round trips by their spans.
func tripOf(span *otlp.Span) trip {
	if span.GetKind() != otlp.Span_SPAN_KIND_CLIENT {
		return none
	}
	for _, a := range span.GetAttributes() {
		if a.GetKey() == "db.system.name" {
			return trip(a.GetValue().GetStringValue())
		}
	}
	if strings.Contains(span.GetName(), "Service/") {
		return overGRPC
	}
	return none
}

// trips are the round trips of one request until its answer.
type trips struct{ postgres, redis, grpc int }

// traced is a platform that sends its spans.
type traced struct {
	*ordering

	spans *spans
	order string
	// key sends all requests, which are few.
	key string
}

func (t trips) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(t.postgres), "postgres-trips")
	b.ReportMetric(float64(t.redis), "redis-trips")
	b.ReportMetric(float64(t.grpc), "grpc-calls")
}

func startTraced(b *testing.B) *traced {
	b.Helper()
	t := &traced{spans: collectSpans(b)}
	t.ordering = startOrders(b)
	placed, err := t.place(newEdgeClient(b, t.env["GIFTING_URL"], t.keys))
	require.NoError(b, err)
	var order struct{ ID string }
	require.NoError(b, json.Unmarshal(placed, &order))
	t.order = order.ID
	t.key, err = t.keys.take()
	require.NoError(b, err)
	return t
}

// trips counts those of a request whose kind was sent before, so that keys and settings are known.
func (t *traced) trips(b *testing.B, kind string) (last trips) {
	b.Helper()
	const warm = 3
	for n := range warm {
		traceID := t.send(b, kind, fmt.Sprintf("%s-%d", kind, n))
		var found []*otlp.Span
		require.Eventually(b, func() (complete bool) {
			found, complete = t.spans.request(traceID)
			return complete
		}, 20*time.Second, 20*time.Millisecond)
		last = trips{}
		for _, span := range found {
			switch tripOf(span) {
			case toPostgres:
				last.postgres++
			case toRedis:
				last.redis++
			case overGRPC:
				last.grpc++
			case none:
			}
		}
	}
	return last
}

// send sends a request of the kind and gives the id of its trace.
func (t *traced) send(b *testing.B, kind, name string) string {
	b.Helper()
	method, path, body := http.MethodGet, "", ""
	switch kind {
	case "place-order":
		method, path, body = http.MethodPost, "/orders", fmt.Sprintf(orderBody, name, t.brand)
	case "post-message":
		method, path, body = http.MethodPost, "/orders/"+t.order+"/messages", messageBody
	case "get-order":
		path = "/orders/" + t.order
	case "list-50-orders":
		path = "/orders"
	case "read-50-events":
		path = "/events"
	case "poll-nothing-new":
		path = "/events?after=" + t.end(b)
	}
	req, err := http.NewRequestWithContext(b.Context(), method, t.env["GIFTING_URL"]+path, strings.NewReader(body))
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+t.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", name)
	res, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	answered, err := io.ReadAll(res.Body)
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	require.Less(b, res.StatusCode, http.StatusBadRequest, string(answered))
	id, err := hex.DecodeString(res.Header.Get("Request-Id"))
	require.NoError(b, err)
	return string(id)
}

func (t *traced) end(b *testing.B) string {
	b.Helper()
	awaitEmptyOutbox(b, t.db)
	end, err := endOfFeed(newEdgeClient(b, t.env["GIFTING_URL"], t.keys))
	require.NoError(b, err)
	return end
}
