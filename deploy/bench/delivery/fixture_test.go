package delivery_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// platform is a running platform on Kafka.
type platform struct{ *fixture.Platform }

func newFixture(b *testing.B) *platform {
	b.Helper()
	return &platform{fixture.StartOnKafka(b)}
}

// tenant has one brand, and one API key with a webhook or without.
type tenant struct {
	fixture.Tenant

	key    int32
	secret string
}

// tenants makes tenants whose keys have the addresses as their webhooks. An empty address means no webhook.
func (p *platform) tenants(b *testing.B, webhooks []string) []tenant {
	b.Helper()
	made := make([]tenant, len(webhooks))
	for i, webhook := range webhooks {
		made[i].Tenant = p.NewTenant(b)
		key, err := made[i].NewKey(b.Context(), webhook)
		require.NoError(b, err)
		made[i].key, made[i].secret = key.GetKey().GetId(), key.GetWebhookSecret()
	}
	return made
}

// receiver is the server of all endpoints. Each has its own host name, as in production.
type receiver struct {
	port string
	got  atomic.Int64
	// keep reports whether arrivals are kept, not only counted.
	keep bool

	lock     sync.Mutex
	arrivals []arrival
	// waits holds the hosts that do not respond immediately.
	waits map[string]func(*http.Request)
}

type arrival struct {
	at   time.Time
	body []byte
}

func newReceiver(b *testing.B, keep bool) *receiver {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "0.0.0.0:0")
	require.NoError(b, err)
	r := &receiver{keep: keep, waits: map[string]func(*http.Request){}}
	_, r.port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(b, err)
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	b.Cleanup(func() {
		require.NoError(b, server.Close())
		require.ErrorIs(b, <-ended, http.ErrServerClosed)
	})
	return r
}

func hostOf(endpoint int) string { return fmt.Sprintf("127.0.0.%d", endpoint+1) }

// urls are the addresses of the first n endpoints.
func (r *receiver) urls(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "http://" + net.JoinHostPort(hostOf(i), r.port) + "/"
	}
	return out
}

// set makes an endpoint wait before it responds.
func (r *receiver) set(endpoint int, wait func(*http.Request)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.waits[hostOf(endpoint)] = wait
}

// ServeHTTP records the arrival and responds.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := time.Now()
	if !r.keep {
		_, _ = io.Copy(io.Discard, req.Body)
		r.got.Add(1)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, _ := io.ReadAll(req.Body)
	host, _, _ := net.SplitHostPort(req.Host)
	r.lock.Lock()
	r.arrivals = append(r.arrivals, arrival{at: at, body: body})
	wait := r.waits[host]
	r.lock.Unlock()
	r.got.Add(1)
	if wait != nil {
		wait(req)
	}
	w.WriteHeader(http.StatusNoContent)
}

// first returns when each order's event arrived first.
func (r *receiver) first(b *testing.B) map[string]time.Time {
	b.Helper()
	r.lock.Lock()
	defer r.lock.Unlock()
	out := make(map[string]time.Time, len(r.arrivals))
	for _, a := range r.arrivals {
		var event struct {
			Data struct{ ID string }
		}
		require.NoError(b, json.Unmarshal(a.body, &event))
		if _, again := out[event.Data.ID]; !again {
			out[event.Data.ID] = a.at
		}
	}
	return out
}
