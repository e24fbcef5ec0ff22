package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var allScopes = []commonv1.Scope{
	commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS,
}

// platform is a running stack and the addresses and keys of its demo.
type platform struct {
	config   local.Config
	env      map[string]string
	document document
	// past is what the feeds of a platform held before the test.
	past past
	// lines are the connections to the services, by the variables that name them.
	lines map[string]*local.Conn
	// left are the tests that a platform elsewhere made impossible, and why.
	left map[string]string
	lock sync.Mutex
}

// start runs a stack in this process for the time of the test.
func start(t *testing.T) *platform {
	t.Helper()
	cfg := newConfig(t)
	stack, err := local.Start(t.Context(), cfg)
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(cfg.Dir, "stack.log"))
		require.NoError(t, err, "stack.log:\n%s", log)
	}
	t.Cleanup(func() {
		require.NoError(t, stack.Stop(t.Context()))
		log, err := os.ReadFile(filepath.Join(cfg.Dir, "stack.log"))
		require.NoError(t, err)
		requireNoPersonalData(t, string(log))
	})
	p := &platform{config: cfg, env: stack.Env}
	t.Cleanup(func() { p.hangUp(t) })
	return p
}

// call is one request of the API.
type call struct {
	method string
	path   string
	key    string
	// idempotencyKey is made up for a POST that names none.
	idempotencyKey string
	body           string
	header         map[string]string
}

type answer struct {
	status int
	header http.Header
	body   string
}

// do makes a call and holds it against the OpenAPI document.
func (p *platform) do(t *testing.T, c call) answer {
	t.Helper()
	req := p.request(t, c)
	a := exchange(t, req)
	p.judge(t, req, c.body, a)
	return a
}

// send makes a call that is not judged.
func (p *platform) send(t *testing.T, c call) answer {
	t.Helper()
	return exchange(t, p.request(t, c))
}

func (p *platform) request(t *testing.T, c call) *http.Request {
	t.Helper()
	var body io.Reader = http.NoBody
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), c.method, p.env["GIFTING_URL"]+c.path, body)
	require.NoError(t, err)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", rand.Text())
		if c.idempotencyKey != "" {
			req.Header.Set("Idempotency-Key", c.idempotencyKey)
		}
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	return req
}

func exchange(t *testing.T, req *http.Request) answer {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{status: res.StatusCode, header: res.Header, body: string(content)}
}

func (p *platform) get(t *testing.T, key, path string) answer {
	t.Helper()
	return p.do(t, call{method: http.MethodGet, path: path, key: key})
}

func (p *platform) post(t *testing.T, key, path, body string) answer {
	t.Helper()
	return p.do(t, call{method: http.MethodPost, path: path, key: key, body: body})
}

// object reads a JSON object.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &out), a.body)
	return out
}

// requireProblem demands a problem of the code, and its shape.
func requireProblem(t *testing.T, a answer, status int, code string) map[string]any {
	t.Helper()
	require.Equal(t, status, a.status, a.body)
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	p := a.object(t)
	require.Equal(t, code, p["code"], a.body)
	require.InDelta(t, status, p["status"], 0)
	require.NotEmpty(t, p["title"])
	require.Contains(t, p["type"], "/errors#"+code)
	return p
}

// order is a body that places an order; change may alter it first.
func (p *platform) order(t *testing.T, change func(order map[string]any)) string {
	t.Helper()
	body := map[string]any{
		"externalOrderId": "e2e-" + rand.Text(),
		"brandId":         p.env["GIFTING_BRAND_ID"],
		"items":           []any{map[string]any{"productId": p.env["GIFTING_PRODUCT_ID"]}},
		"client":          map[string]any{"name": markedName, "email": markedEmail},
		"recipient": map[string]any{
			"name": markedName, "phone": markedPhone, "email": markedEmail,
			"address": map[string]any{"street": markedStreet, "city": "Visby", "postalCode": "621 57", "country": "SE"},
		},
	}
	if change != nil {
		change(body)
	}
	var out bytes.Buffer
	require.NoError(t, json.NewEncoder(&out).Encode(body))
	return out.String()
}

// event is a feed item with its bytes as they stand in the page.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data json.RawMessage
	raw  string
}

// feed reads all events that the key may see, of a platform that ran before the test those since its start.
func (p *platform) feed(t *testing.T, key string) []event {
	t.Helper()
	events, ok := p.tryFeed(t, key)
	require.True(t, ok, "the feed does not answer")
	return events
}

// tryFeed is feed for who asks so often that the rate limit may refuse.
func (p *platform) tryFeed(t *testing.T, key string) (events []event, ok bool) {
	t.Helper()
	const first = "/events?limit=100"
	path := first + p.past.after(t, p, key)
	for {
		a := p.get(t, key, path)
		if a.status != http.StatusOK {
			return nil, false
		}
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		for _, item := range page.Items {
			e := event{raw: string(item)}
			require.NoError(t, json.Unmarshal(item, &e))
			events = append(events, e)
		}
		if len(page.Items) == 0 || page.NextCursor == nil {
			return events, true
		}
		path = first + "&after=" + *page.NextCursor
	}
}

// eventually waits for an event of the feed whose data names the order.
func (p *platform) eventually(t *testing.T, key, orderID string, within time.Duration) event {
	t.Helper()
	var found event
	require.Eventually(t, func() bool {
		events, _ := p.tryFeed(t, key)
		for _, e := range events {
			if strings.Contains(e.raw, orderID) {
				found = e
				return true
			}
		}
		return false
	}, within, 100*time.Millisecond, "the feed does not show the order")
	return found
}

// arrived gives the webhooks at the stack's receiver whose event is the one with the id.
func (p *platform) arrived(t *testing.T, eventID string) []inbox.Delivery {
	t.Helper()
	out := slices.DeleteFunc(p.deliveries(t), func(d inbox.Delivery) bool { return d.Headers["Service-Event-Id"] != eventID })
	p.judgeWebhooks(t, out)
	return out
}

// deliveries gives what is at the stack's receiver.
func (p *platform) deliveries(t *testing.T) []inbox.Delivery {
	t.Helper()
	return p.deliveriesOf(t, "")
}

// deliveriesOf gives what the query leaves of it.
func (p *platform) deliveriesOf(t *testing.T, query string) []inbox.Delivery {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.env["GIFTING_INBOX_URL"]+query, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var all []inbox.Delivery
	require.NoError(t, json.NewDecoder(res.Body).Decode(&all))
	return all
}

// dial connects to the service whose address the variable of demo.env holds, the first time.
func (p *platform) dial(t *testing.T, variable string) *local.Conn {
	t.Helper()
	p.lock.Lock()
	defer p.lock.Unlock()
	if conn, ok := p.lines[variable]; ok {
		return conn
	}
	conn, err := local.Dial(p.env, variable)
	require.NoError(t, err)
	if p.lines == nil {
		p.lines = map[string]*local.Conn{}
	}
	p.lines[variable] = conn
	return conn
}

// hangUp ends the connections.
func (p *platform) hangUp(t *testing.T) {
	t.Helper()
	for _, conn := range p.lines {
		require.NoError(t, conn.Close())
	}
}

func (p *platform) operations(t *testing.T) tenantsv1.TenantOperationsServiceClient {
	t.Helper()
	return tenantsv1.NewTenantOperationsServiceClient(p.dial(t, "GIFTING_GRPC_TENANTS"))
}

// newKey makes a key of the tenant without approval. With brands it is limited to them.
func (p *platform) newKey(t *testing.T, webhookURL string, brandIDs ...string) *tenantsv1.CreateKeyResponse {
	t.Helper()
	req := &tenantsv1.CreateKeyRequest{
		TenantId: seed.Direct, Name: "end-to-end test", Scopes: allScopes, AllBrands: len(brandIDs) == 0, BrandIds: brandIDs,
	}
	if webhookURL != "" {
		req.WebhookUrl = proto.String(webhookURL)
	}
	return p.createKey(t, req)
}

// createKey makes one that a platform which goes on running forgets after the test.
func (p *platform) createKey(t *testing.T, req *tenantsv1.CreateKeyRequest) *tenantsv1.CreateKeyResponse {
	t.Helper()
	made, err := p.operations(t).CreateKey(t.Context(), req)
	require.NoError(t, err)
	if p.config.Name == "" {
		t.Cleanup(func() {
			_, err := p.operations(t).RevokeKey(context.WithoutCancel(t.Context()), &tenantsv1.RevokeKeyRequest{KeyId: made.GetKey().GetId()})
			require.NoError(t, err)
		})
	}
	return made
}
