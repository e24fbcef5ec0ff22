package service

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// cellsFixture is a program that calls the orders services of two cells, of which the second one is listed.
type cellsFixture struct {
	*Cells

	service *Service
	orders  healthpb.HealthClient
	// listed counts the reads of the list, whose result is list.
	listed atomic.Int32
	list   func(ctx context.Context) ([]*tenantsv1.Cell, error)
}

func setupCells(t *testing.T) *cellsFixture {
	t.Helper()
	f := &cellsFixture{}
	home, other := ordersIn(t, "a"), &tenantsv1.Cell{Letter: "b", OrdersAddr: ordersIn(t, "b")}
	f.list = func(context.Context) ([]*tenantsv1.Cell, error) { return []*tenantsv1.Cell{other}, nil }
	var err error
	f.service, err = New(t.Context(), Config{Telemetry: telemetry.Discard(), NoServer: true}, func(s *Service) error {
		f.Cells = s.NewCells(func(ctx context.Context) ([]*tenantsv1.Cell, error) {
			f.listed.Add(1)
			return f.list(ctx)
		})
		conn, err := f.Dial(identity.Orders, home)
		f.orders = healthpb.NewHealthClient(conn)
		return err
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.service.close() })
	return f
}

// ordersIn starts a server that knows the letter of its cell, and returns its address.
func ordersIn(t *testing.T, letter string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	status := health.NewServer()
	status.SetServingStatus(letter, healthpb.HealthCheckResponse_SERVING)
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, status)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// call calls a cell, and fails if another one has answered.
func (f *cellsFixture) call(ctx context.Context, letter string) error {
	_, err := f.orders.Check(caller.InCell(ctx, letter), &healthpb.HealthCheckRequest{Service: letter})
	return err
}

// age makes the list older.
func (f *cellsFixture) age(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readAt = f.readAt.Add(-by)
}

func TestACallGoesToTheCellOfItsContext(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	_, err := f.orders.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "a"})
	require.NoError(t, err, "without a cell, it is the first one")
	require.NoError(t, f.call(t.Context(), "a"))
	require.Zero(t, f.listed.Load(), "the first cell needs no list")
	for range 2 {
		require.NoError(t, f.call(t.Context(), "b"))
	}
	stream, err := f.orders.Watch(caller.InCell(t.Context(), "b"), &healthpb.HealthCheckRequest{Service: "b"})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, first.GetStatus())
	require.Equal(t, []string{"a", "b"}, f.Letters(t.Context()))
	require.EqualValues(t, 1, f.listed.Load())
	require.Len(t, f.conns, 1)
}

func TestAServiceWithoutAnAddressInACellIsUnavailable(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	conn, err := f.Dial(identity.Webhook, "127.0.0.1:1")
	require.NoError(t, err)
	_, err = healthpb.NewHealthClient(conn).Check(caller.InCell(t.Context(), "b"), &healthpb.HealthCheckRequest{})
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
}

func TestTheListIsReadAgainForACellThatIsNotInIt(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	whole := f.list
	f.list = func(context.Context) ([]*tenantsv1.Cell, error) { return nil, nil }
	for range 2 { // The second call is too soon after the first one.
		require.True(t, problem.Is(f.call(t.Context(), "b"), problem.ServiceUnavailable))
	}
	require.EqualValues(t, 1, f.listed.Load())
	f.list = whole
	f.age(unknownPause)
	require.NoError(t, f.call(t.Context(), "b"))
	require.EqualValues(t, 2, f.listed.Load())
}

func TestAListThatCannotBeReadStaysAsItWas(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	require.NoError(t, f.call(t.Context(), "b"))
	f.list = func(context.Context) ([]*tenantsv1.Cell, error) { return nil, errors.New("down") }
	f.age(2 * cellsAge)
	require.Equal(t, []string{"a", "b"}, f.Letters(t.Context()))
	require.EqualValues(t, 2, f.listed.Load())
	require.NoError(t, f.call(t.Context(), "b"))
	f.age(unknownPause)
	require.NoError(t, f.call(t.Context(), "b"))
	require.EqualValues(t, 2, f.listed.Load(), "calls do not wait for the next read")
}

// A tenants service that hangs must not delay the calls of every minute.
func TestCallsOfAKnownCellDoNotWaitForANewList(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	require.NoError(t, f.call(t.Context(), "b"))
	answer := make(chan []*tenantsv1.Cell)
	f.list = func(context.Context) ([]*tenantsv1.Cell, error) { return <-answer, nil }
	f.age(cellsAge)
	for range 2 {
		require.NoError(t, f.call(t.Context(), "b"))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.True(t, problem.Is(f.call(gone, "c"), problem.ServiceUnavailable), "a caller that has left waits for nothing")
	answer <- nil
	require.Eventually(t, func() bool { return len(f.Letters(t.Context())) == 1 }, 20*time.Second, time.Millisecond)
	require.EqualValues(t, 2, f.listed.Load())
}

// The values of a call's context belong to that call alone: an interceptor would take the read of the list for a part of it.
func TestAReadOfTheListBelongsToNoCall(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	whole := f.list
	f.list = func(ctx context.Context) ([]*tenantsv1.Cell, error) {
		if caller.CellOf(ctx) != "" {
			return nil, errors.New("it has the context of the call")
		}
		return whole(ctx)
	}
	require.NoError(t, f.call(t.Context(), "b"))
}

func TestConnectionsToCellsAreClosedWithTheService(t *testing.T) {
	t.Parallel()
	f := setupCells(t)
	require.NoError(t, f.call(t.Context(), "b"))
	require.NoError(t, f.service.close())
	require.Error(t, f.call(t.Context(), "b"))
	for _, conn := range f.conns {
		require.ErrorIs(t, conn.Close(), grpc.ErrClientConnClosing) //nolint:staticcheck // Nothing else says that it is closed.
	}
}
