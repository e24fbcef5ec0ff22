package service_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

const waitLimit, often = 30 * time.Second, 10 * time.Millisecond

// instance is an instance of a peer that a test upgrades and sets back.
type instance struct {
	*health.Server

	addr string
	// level is what it reports; 0: nothing.
	level atomic.Int64
	asked atomic.Int64
}

func (i *instance) Check(ctx context.Context, req *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	i.asked.Add(1)
	if level := i.level.Load(); level > 0 {
		_ = grpc.SetHeader(ctx, metadata.Pairs("gifting-contract-level", strconv.FormatInt(level, 10)))
	}
	return i.Server.Check(ctx, req)
}

func newInstance(t *testing.T, level int64) *instance {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	i := &instance{Server: health.NewServer(), addr: listener.Addr().String()}
	i.level.Store(level)
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, i)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return i
}

// caller is a program that calls a peer.
type caller struct {
	readyURL string
	health   healthpb.HealthClient
}

func newCaller(t *testing.T, peers string) *caller {
	t.Helper()
	metrics, addr := testenv.FreeAddr(t), testenv.FreeAddr(t)
	tel, err := telemetry.New(t.Context(), string(identity.Gateway), telemetry.Config{MetricsAddr: metrics}, io.Discard)
	require.NoError(t, err)
	s, err := service.New(t.Context(), service.Config{Telemetry: tel, RPC: rpc.Config{Addr: addr}}, func(s *service.Service) error {
		_, err := s.Dial(identity.Orders, peers)
		return err
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, conn.Close())
	})
	return &caller{readyURL: "http://" + metrics + "/readyz", health: healthpb.NewHealthClient(conn)}
}

// ready returns what the program says on both ports.
func (c *caller) ready(t *testing.T) (ready, healthy bool, reason string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.readyURL, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, false, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	answer, err := c.health.Check(t.Context(), &healthpb.HealthCheckRequest{})
	return resp.StatusCode == http.StatusOK, err == nil && answer.GetStatus() == healthpb.HealthCheckResponse_SERVING, string(body)
}

func (c *caller) requireReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		ready, healthy, _ := c.ready(t)
		return ready && healthy
	}, waitLimit, often)
}

func TestAProgramIsReadyWhenAllInstancesOfItsPeersHaveTheLevel(t *testing.T) {
	t.Parallel()
	current, old := newInstance(t, rpc.ContractLevel), newInstance(t, 0)
	c := newCaller(t, current.addr+","+old.addr)
	reason := "an instance of a peer is too old for this program: orders at " + old.addr +
		" has contract level 0, and gateway needs 2\n"
	require.Eventually(t, func() bool {
		ready, healthy, got := c.ready(t)
		require.False(t, ready)
		require.False(t, healthy)
		return got == reason
	}, waitLimit, often)

	old.level.Store(rpc.ContractLevel)
	c.requireReady(t)

	asked := old.asked.Load()
	old.level.Store(0)
	current.level.Store(0)
	ready, healthy, got := c.ready(t)
	require.True(t, ready && healthy, "a peer that goes back changes nothing: %s", got)
	require.Equal(t, asked, old.asked.Load())
}

func TestAPeerThatDoesNotAnswerDelaysNoProgram(t *testing.T) {
	t.Parallel()
	newCaller(t, testenv.FreeAddr(t)).requireReady(t)
	newCaller(t, testenv.FreeAddr(t)+","+newInstance(t, rpc.ContractLevel+1).addr).requireReady(t)
}
