package e2e_test

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/identity"
)

// openMetrics is the Accept header of a scraper that reads exemplars.
const openMetrics = "application/openmetrics-text; version=1.0.0"

// The caller's own trace.
const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
)

const (
	server   = otlp.Span_SPAN_KIND_SERVER
	client   = otlp.Span_SPAN_KIND_CLIENT
	producer = otlp.Span_SPAN_KIND_PRODUCER
	consumer = otlp.Span_SPAN_KIND_CONSUMER
)

// uuidForm finds the ids of tenants and records.
var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestTraceOfAnOrder follows an order from its POST to its row of the feed and its webhook.
func TestTraceOfAnOrder(t *testing.T) {
	c := startCollector(t)
	p := stack{harness.Start(t)}
	idempotencyKey := "marked-" + rand.Text()
	key := p.DemoKey(t) // A change is not sent to the webhook of the key that made it, so this is another one.
	placed := p.Do(t, harness.Call{
		Method: http.MethodPost, Path: "/orders", Key: key, IdempotencyKey: idempotencyKey,
		Body:   p.Order(t),
		Header: map[string]string{"traceparent": "00-" + callersTrace + "-" + callersSpan + "-01", "tracestate": "marked=state"},
	})
	require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
	traceID := placed.Header.Get("Request-Id")

	topic := p.Config.Topic()
	request := []step{{"gateway", server, "POST /orders"}}
	call := after(request, step{"gateway", client, "OrdersService/PlaceOrder"})
	served := after(call, step{"orders", server, "OrdersService/PlaceOrder"})
	sent := after(served, step{"events", producer, "send " + topic})
	fed := after(sent, step{"events", consumer, "process " + topic})
	fannedOut := after(sent, step{"webhook", consumer, "process " + topic})
	attempted := after(fannedOut, step{"webhook", client, "POST webhook"})

	find := func(path []step) span {
		var found span
		require.Eventually(t, func() (ok bool) {
			found, ok = c.trace(traceID).find(path...)
			return ok
		}, 20*time.Second, 50*time.Millisecond, "the trace has no span %v", path)
		return found
	}

	t.Run("is a single one, from the call to the row of the feed and the attempt of the webhook", func(*testing.T) {
		for _, path := range [][]step{
			after(request, step{"gateway", client, "PIPELINE"}),
			after(served, step{"orders", client, "BATCH " + p.Config.Name + "_orders"}),
			after(fed, step{"events", client, "BATCH " + p.Config.Name + "_events"}),
			after(fannedOut, step{"webhook", client, "MGET"}),
			after(fannedOut, step{"webhook", client, "BATCH " + p.Config.Name + "_webhook"}),
			attempted,
		} {
			find(path)
		}
	})
	t.Run("links what comes later to what caused it, and the call to the caller's trace", func(t *testing.T) {
		require.True(t, find(request).links(callersTrace, callersSpan))
		require.True(t, find(sent).links(traceID, id(find(served).GetSpanId())))
		require.True(t, find(fed).links(traceID, id(find(sent).GetSpanId())))
		require.True(t, find(fannedOut).links(traceID, id(find(sent).GetSpanId())))
		require.True(t, find(attempted).links(traceID, id(find(fannedOut).GetSpanId())))
	})
	t.Run("has log lines, and the metrics have exemplars of traces", func(t *testing.T) {
		require.Eventually(t, func() bool {
			return c.hasLogAndMetric(traceID, "http.server.request.duration")
		}, 20*time.Second, 50*time.Millisecond)
		log, err := os.ReadFile(filepath.Join(p.Config.Dir, "stack.log"))
		require.NoError(t, err)
		require.Contains(t, string(log), `"trace_id":"`+traceID+`"`)
		require.Regexp(t, `http_server_request_duration_seconds_bucket\{[^}]*/orders"[^}]*\} \d+ # \{[^}]*trace_id="`+traceID,
			p.scrape(t, programs.Named(identity.Gateway), openMetrics))
	})
	t.Run("has no personal data, no key and no id in its metrics' labels", func(t *testing.T) {
		token := rand.Text() + rand.Text()
		released := p.releaseCanaries(t)
		secret, rotated := p.rotateSecret(t)
		for _, request := range []string{p.visit(t, token), rotated} {
			require.Eventually(t, func() bool {
				_, ok := c.trace(request).root()
				return ok && c.hasLogAndMetric(request, "http.server.request.duration")
			}, 20*time.Second, 50*time.Millisecond)
		}
		var seen string
		require.Eventually(t, func() bool {
			seen = c.everything()
			return strings.Contains(seen, "OrdersService/PostOrderMessage") && strings.Contains(seen, "CreatePersonalLinks")
		}, harness.Slow, 50*time.Millisecond)
		require.Contains(t, seen, "/c/{token}")
		require.Contains(t, seen, seed.Direct, "spans and logs name the tenant")
		for _, program := range programs.All() {
			exposed := p.scrape(t, program, openMetrics)
			require.NotRegexp(t, uuidForm, exposed)
			seen += exposed
		}
		harness.RequireNoPersonalData(t, seen)
		for _, secret := range []string{
			key, p.Env["GIFTING_KEY"], p.Env["GIFTING_WEBHOOK_SECRET"], p.Env["GIFTING_INBOX_URL"],
			idempotencyKey, token, "marked=state", secret, released.message, released.token,
		} {
			require.NotEmpty(t, secret)
			require.NotContains(t, seen, secret)
		}
	})
}

func after(path []step, more ...step) []step { return slices.Concat(path, more) }

// rotateSecret rotates the signing secret of a key by its own call, and repeats the call. It returns the secret and the id of
// the first request.
func (s stack) rotateSecret(t *testing.T) (secret, request string) {
	t.Helper()
	call := harness.Call{
		Method: http.MethodPost, Path: "/webhooks:rotate-secret", Key: s.NewKey(t, seed.Direct).GetApiKey(), IdempotencyKey: rand.Text(),
		Body: "{}",
	}
	first := s.Do(t, call)
	secret, _ = first.OK(t)["secret"].(string)
	require.Nil(t, s.Do(t, call).OK(t)["secret"])
	return secret, first.Header.Get("Request-Id")
}

// visit opens the gift site with an unknown token and returns the id of the request.
func (s stack) visit(t *testing.T, token string) string {
	t.Helper()
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Config.PortBase)) + "/c/" + token
	a := harness.Visit(t, url)
	require.Equal(t, http.StatusNotFound, a.Status)
	return a.Header.Get("Request-Id")
}

// span is a span that a service sent.
type span struct {
	*otlp.Span

	service string
}

// trace is the spans with one trace id.
type trace []span

func id(raw []byte) string { return hex.EncodeToString(raw) }

func text(attributes []*common.KeyValue, key string) string {
	for _, a := range attributes {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// root is the span without a parent.
func (t trace) root() (span, bool) {
	i := slices.IndexFunc(t, func(s span) bool { return len(s.GetParentSpanId()) == 0 })
	if i < 0 {
		return span{}, false
	}
	return t[i], true
}

// below returns the children of a span in the order in which they began.
func (t trace) below(parent span) trace {
	var children trace
	for _, s := range t {
		if id(s.GetParentSpanId()) == id(parent.GetSpanId()) {
			children = append(children, s)
		}
	}
	slices.SortFunc(children, func(a, b span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	return children
}

// step describes a span on a path through the trace, by the beginning or end of its name.
type step struct {
	service string
	kind    otlp.Span_SpanKind
	name    string
}

func (s step) fits(found span) bool {
	return found.service == s.service && found.GetKind() == s.kind &&
		(strings.HasPrefix(found.GetName(), s.name) || strings.HasSuffix(found.GetName(), s.name))
}

// find follows a path from the root to a span, from parent to child.
func (t trace) find(path ...step) (span, bool) {
	at, ok := t.root()
	if !ok || !path[0].fits(at) {
		return span{}, false
	}
	return t.follow(at, path[1:])
}

func (t trace) follow(at span, path []step) (span, bool) {
	if len(path) == 0 {
		return at, true
	}
	for _, child := range t.below(at) {
		if path[0].fits(child) {
			if found, ok := t.follow(child, path[1:]); ok {
				return found, true
			}
		}
	}
	return span{}, false
}

// links reports whether the span links to the one with the ids.
func (s span) links(traceID, spanID string) bool {
	return slices.ContainsFunc(s.GetLinks(), func(l *otlp.Span_Link) bool {
		return id(l.GetTraceId()) == traceID && id(l.GetSpanId()) == spanID
	})
}
