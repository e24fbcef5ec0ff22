package orders_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/orders"
)

// others are the services that reconcile asks: catalog holds stock of one order that does not exist.
type others struct {
	catalogv1.UnimplementedOrderingServiceServer
	linksv1.UnimplementedClaimRecordsServiceServer
	eventsv1.UnimplementedFeedRecordsServiceServer

	feedDown bool
	// settling is called during a repair, unless nil.
	settling func()
}

func (o *others) ListReservations(
	context.Context, *catalogv1.ListReservationsRequest,
) (*catalogv1.ListReservationsResponse, error) {
	return &catalogv1.ListReservationsResponse{Reservations: []*catalogv1.Reservation{
		{
			TenantId: uuid.NewString(), OrderId: "0198f2e4-0000-7000-8000-000000000001",
			State: catalogv1.ReservationState_RESERVATION_STATE_CONFIRMED,
		},
	}}, nil
}

func (o *others) SettleReservations(
	context.Context, *catalogv1.SettleReservationsRequest,
) (*catalogv1.SettleReservationsResponse, error) {
	if o.settling != nil {
		o.settling()
	}
	return &catalogv1.SettleReservationsResponse{}, nil
}

func (o *others) ListClaimRecords(context.Context, *linksv1.ListClaimRecordsRequest) (*linksv1.ListClaimRecordsResponse, error) {
	return &linksv1.ListClaimRecordsResponse{}, nil
}

func (o *others) ListFeedTenants(context.Context, *eventsv1.ListFeedTenantsRequest) (*eventsv1.ListFeedTenantsResponse, error) {
	if o.feedDown {
		return nil, status.Error(codes.Internal, "the feed is down")
	}
	return &eventsv1.ListFeedTenantsResponse{RetainedFrom: timestamppb.New(time.Unix(0, 0))}, nil
}

// reconciled returns a migrated configuration whose other services answer.
func reconciled(t *testing.T, o *others) orders.Config {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	catalogv1.RegisterOrderingServiceServer(server, o)
	linksv1.RegisterClaimRecordsServiceServer(server, o)
	eventsv1.RegisterFeedRecordsServiceServer(server, o)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	cfg := config(t)
	addr := listener.Addr().String()
	cfg.CatalogAddr, cfg.PersonalLinksAddr, cfg.EventsAddr = addr, addr, addr
	require.NoError(t, orders.Program().Migrate(t.Context(), cfg, io.Discard))
	return cfg
}

// report is what the tests read of the JSON.
type report struct {
	Differences []struct {
		Kind     string
		Repaired bool
	}
}

func TestReconcileRepairsWithOneConnection(t *testing.T) {
	t.Parallel()
	both := &others{}
	cfg := reconciled(t, both)
	cfg.Database.MaxConns = 1
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, cfg.Database.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var state string
	var second error
	both.settling = func() {
		assert.NoError(t, conn.QueryRow(ctx, `SELECT state FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND datname = current_database()`).Scan(&state))
		second = orders.Reconcile(ctx, cfg, []string{"--repair"}, io.Discard, io.Discard)
	}
	var out, log bytes.Buffer
	require.NoError(t, orders.Reconcile(ctx, cfg, []string{"--repair", "--json"}, &out, &log), log.String())
	var got report
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Len(t, got.Differences, 1)
	require.True(t, got.Differences[0].Repaired)
	require.Equal(t, "idle in transaction", state, "a pooler of transactions leaves the lock alone")
	require.ErrorContains(t, second, "another process is repairing")
}

func TestReconcileWritesTheReportOfARunThatFails(t *testing.T) {
	t.Parallel()
	cfg := reconciled(t, &others{feedDown: true})
	for _, flags := range [][]string{{"--json"}, {"--json", "--repair", "--all"}} {
		var out, log bytes.Buffer
		err := orders.Reconcile(t.Context(), cfg, flags, &out, &log)
		require.ErrorContains(t, err, "the feed is down")
		var left orders.DifferencesError
		require.NotErrorAs(t, err, &left, "it is a failure, whatever was found")
		var got report
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		require.Len(t, got.Differences, 1)
		require.Equal(t, "stock_held_without_order", got.Differences[0].Kind)
		require.Equal(t, len(flags) > 1, got.Differences[0].Repaired)
	}
}
