package sender

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/directorytest"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

const (
	backlogSize   = 20_000
	endpointCount = 100
	bareLoops     = 64
)

// sink is a receiver that does as little as possible.
type sink struct {
	*httptest.Server
	got atomic.Int64
}

func newSink(b *testing.B) *sink {
	b.Helper()
	s := &sink{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.got.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	all, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "0.0.0.0:0")
	require.NoError(b, err)
	require.NoError(b, s.Listener.Close())
	s.Listener = all
	s.Start()
	b.Cleanup(s.Close)
	return s
}

// url gives each endpoint a host of its own, as in production: connections are kept per host.
func (s *sink) url(endpoint int) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return fmt.Sprintf("http://127.0.0.%d:%s/", endpoint%endpointCount+1, port)
}

// BenchmarkBacklog delivers a backlog and compares the rate with that of bare goroutines that sign and post
// the same bodies with the same client.
func BenchmarkBacklog(b *testing.B) {
	secret := strings.Repeat("0123456789abcdef", 4)
	body := []byte(`{"id":"` + uuid.NewString() + `","type":"order.created","data":"` + strings.Repeat("x", 700) + `"}`)
	for b.Loop() {
		s := newSink(b)
		client := webhookclient.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now)
		bare := rate(func() { postBare(b, client, s, secret, body) })

		dir := directorytest.New(b)
		for key := range int32(endpointCount) {
			dir.SetEndpoint(&tenantsv1.Endpoint{
				KeyId: key + 1, State: tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE,
				Url: s.url(int(key)), Secret: secret,
			})
		}
		pool, err := postgres.Open(b.Context(), postgres.Config{URL: pgtest.NewURL(b, store.Migrations())})
		require.NoError(b, err)
		st := store.New(pool)
		fill(b, st, body)
		s.got.Store(0)
		snd, err := New(Deps{
			Store: st, Directory: dir.Client, Client: client, Now: time.Now, Telemetry: telemetry.Discard(),
		}, Config{Workers: 128, PerEndpoint: 8, Timeout: 10 * time.Second, Lease: 30 * time.Second, Poll: time.Second})
		require.NoError(b, err)
		ours := rate(func() { deliverAll(b, snd, s) })
		pool.Close()
		b.ReportMetric(bare, "bare/s")
		b.ReportMetric(ours, "delivered/s")
		b.ReportMetric(ours/bare, "ratio")
	}
}

func rate(work func()) float64 {
	began := time.Now()
	work()
	return backlogSize / time.Since(began).Seconds()
}

func postBare(b *testing.B, client *webhookclient.Client, s *sink, secret string, body []byte) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range bareLoops {
		group.Go(func() {
			for n := next.Add(1); n <= backlogSize; n = next.Add(1) {
				a := client.Post(b.Context(), webhookclient.Request{URL: s.url(int(n)), Secret: secret, EventID: "0190", Body: body})
				if !a.Delivered() {
					b.Errorf("bare post: %s %v", a.Problem, a.Cause)
				}
			}
		})
	}
	group.Wait()
}

func fill(b *testing.B, st *store.Store, body []byte) {
	b.Helper()
	for from := 0; from < backlogSize; from += 1000 {
		events := make([]store.Event, 1000)
		for i := range events {
			events[i] = store.Event{
				TenantID: tenant, ID: uuid.NewString(), Type: "order.created", Body: body,
				KeyIDs: []int32{int32((from+i)%endpointCount) + 1},
			}
		}
		require.NoError(b, st.FanOut(b.Context(), events, nil))
	}
}

func deliverAll(b *testing.B, snd *Sender, s *sink) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- snd.Run(ctx) }()
	require.Eventually(b, func() bool { return s.got.Load() >= backlogSize }, 5*time.Minute, time.Millisecond)
	stop()
	require.NoError(b, <-ended)
}
