package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

var changed = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// others are the other services: stock is held under these ids, no link is claimed, and the feed has these events.
type others struct {
	catalogv1.OrderingServiceClient
	linksv1.ClaimRecordsServiceClient
	eventsv1.FeedRecordsServiceClient

	held     []string
	released int
	told     []*eventsv1.OrderEvent
	behind   bool
	// retained is since when the feed has kept everything; zero: since the day before the orders changed.
	retained time.Time
	// checks counts the pages whose completeness was requested.
	checks  int
	failure error
}

func (o *others) ListReservations(
	context.Context, *catalogv1.ListReservationsRequest, ...grpc.CallOption,
) (*catalogv1.ListReservationsResponse, error) {
	resp := &catalogv1.ListReservationsResponse{}
	for _, id := range o.held {
		resp.Reservations = append(resp.Reservations, &catalogv1.Reservation{TenantId: uuid.Nil.String(), OrderId: id, State: confirmed})
	}
	return resp, nil
}

func (o *others) SettleReservations(
	_ context.Context, r *catalogv1.SettleReservationsRequest, _ ...grpc.CallOption,
) (*catalogv1.SettleReservationsResponse, error) {
	o.released += len(r.GetReleasedOrderIds())
	return &catalogv1.SettleReservationsResponse{}, nil
}

func (o *others) ListClaimRecords(
	context.Context, *linksv1.ListClaimRecordsRequest, ...grpc.CallOption,
) (*linksv1.ListClaimRecordsResponse, error) {
	return &linksv1.ListClaimRecordsResponse{}, nil
}

func (o *others) ListFeedTenants(
	context.Context, *eventsv1.ListFeedTenantsRequest, ...grpc.CallOption,
) (*eventsv1.ListFeedTenantsResponse, error) {
	retained := o.retained
	if retained.IsZero() {
		retained = changed.AddDate(0, 0, -1)
	}
	return &eventsv1.ListFeedTenantsResponse{RetainedFrom: timestamppb.New(retained)}, o.failure
}

func (o *others) ListOrderEvents(
	_ context.Context, r *eventsv1.ListOrderEventsRequest, _ ...grpc.CallOption,
) (*eventsv1.ListOrderEventsResponse, error) {
	page := o.told[r.GetAfter().GetNumber():]
	page = page[:min(len(page), int(r.GetLimit()))]
	resp := &eventsv1.ListOrderEventsResponse{
		Events: page, End: len(page) < int(r.GetLimit()), Next: &eventsv1.FeedPosition{
			Number: r.GetAfter().GetNumber() + int64(len(page)),
		},
	}
	if r.GetCheckComplete() {
		o.checks++
		if resp.Complete = !o.behind; o.behind {
			resp.IncompleteReason = "partition 2 is stored up to offset 4, and Kafka has 0 to 9"
		}
	}
	return resp, nil
}

// repair runs with repairs against a database with this many orders, none of which holds stock.
func repair(t *testing.T, orders int, o *others, cfg Config) (*Report, *pgxpool.Pool, error) {
	t.Helper()
	pool := pgtest.New(t, outbox.Migrations(), store.Migrations())
	_, err := pool.Exec(t.Context(), `INSERT INTO orders (tenant_id, id, reference, source, brand_id, status, item_kind, product_id,
  product_name, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT $2, ('0198f2e4-0000-7000-8000-' || lpad((n - 1)::text, 12, '0'))::uuid, n::text, 'API', gen_random_uuid(), 'PROCESSING',
  'CATALOG', gen_random_uuid(), 'Mug', 'SE', false, '\x01', $3, $3
  FROM generate_series(1, $1::int) n`, orders, uuid.NewString(), changed)
	require.NoError(t, err)
	s, log := store.New(pool, nil, nil), slog.New(slog.DiscardHandler)
	cfg.Repair, cfg.PagesPerSecond = true, 1000
	report, err := Run(t.Context(), Deps{
		Store: s, Catalog: o, Links: o, Feed: o, Log: log,
		Reservations: reservations.New(reservations.Deps{Store: s, Catalog: o, Log: log}),
	}, cfg)
	return report, pool, err
}

func inOutbox(t *testing.T, pool *pgxpool.Pool) (rows int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox").Scan(&rows))
	return rows
}

func TestEventsThatTheFeedMayYetReadAreNotLost(t *testing.T) {
	t.Parallel()
	const orders = checkSize + 50
	for behind, want := range map[bool]struct{ unread, repaired, checks int }{
		true:  {unread: orders, checks: 1}, // The call waits for the feed, so it is not repeated.
		false: {repaired: orders, checks: 2},
	} {
		o := &others{behind: behind}
		report, pool, err := repair(t, orders, o, Config{All: true})
		require.NoError(t, err)
		require.Equal(t, want.unread, report.Unread)
		require.Equal(t, want.unread, report.Left())
		require.Equal(t, want.checks, o.checks)
		require.Len(t, report.Differences, want.repaired)
		require.Equal(t, want.repaired, inOutbox(t, pool))
		var table, asJSON strings.Builder
		require.NoError(t, errors.Join(report.WriteTable(&table), report.WriteJSON(&asJSON)))
		require.Equal(t, behind, strings.Contains(table.String(), "The feed is behind Kafka (partition 2 "))
		require.Equal(t, behind, strings.Contains(asJSON.String(), `"feedBehind": "partition 2 `))
	}
}

func TestAnEventThatRetentionDroppedIsNotLost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from, retained time.Time
		lost           int
	}{
		"dropped, and --from is earlier": {from: changed.AddDate(0, 0, -20), retained: changed.AddDate(0, 0, 10)},
		"dropped, without --from":        {retained: changed.AddDate(0, 0, 10)},
		"retained, and --from is later":  {from: changed.AddDate(0, 0, 5), retained: changed.AddDate(0, 0, -20)},
		"retained, without --from":       {retained: changed.AddDate(0, 0, -20), lost: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, pool, err := repair(t, 3, &others{retained: tc.retained}, Config{From: tc.from, All: true})
			require.NoError(t, err)
			require.Len(t, report.Differences, tc.lost)
			require.Equal(t, tc.lost, inOutbox(t, pool))
		})
	}
}

// The order changed twice since the feed lost its events, and the second order was never in it.
func TestALostEventLeadsFromTheStatusThatWasReportedLast(t *testing.T) {
	t.Parallel()
	event := func(n int64, order string, at time.Time, status string) *eventsv1.OrderEvent {
		return &eventsv1.OrderEvent{
			OrderId: order, OccurredAt: timestamppb.New(at), Status: status, Position: &eventsv1.FeedPosition{Number: n},
		}
	}
	orders := ids(3)
	_, pool, err := repair(t, 3, &others{told: []*eventsv1.OrderEvent{
		event(1, orders[0], changed.Add(-time.Hour), "REQUESTED"),
		event(2, orders[0], changed.Add(-time.Minute), "CANCELLED"),
		event(3, orders[2], changed, "PROCESSING"),
	}}, Config{})
	require.NoError(t, err)
	rows, err := pool.Query(t.Context(),
		`SELECT subject_id::text, convert_from(data, 'UTF8')::json->>'previousStatus' FROM outbox ORDER BY 1`)
	require.NoError(t, err)
	type recorded struct{ Order, Previous string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[recorded])
	require.NoError(t, err)
	require.Equal(t, []recorded{{orders[0], "CANCELLED"}, {orders[1], "PROCESSING"}}, found)
}

func TestAMessageInTheOutboxIsNotTheLostEvent(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations(), store.Migrations())
	s, order, other := store.New(pool, nil, nil), uuid.NewString(), uuid.NewString()
	_, err := pool.Exec(t.Context(), `INSERT INTO outbox
  (event_id, type, tenant_id, brand_id, subject_id, origin_key_id, occurred_at, data, confirmed_at)
SELECT gen_random_uuid(), 'order.updated', gen_random_uuid(), gen_random_uuid(), s, 0, at, '{}', now()
  FROM unnest($1::uuid[], $2::timestamptz[]) AS e (s, at)`, []string{order, other}, []time.Time{changed.Add(time.Second), changed})
	require.NoError(t, err)
	found, err := s.EventsInOutbox(t.Context(), []store.ChangedOrder{{ID: order, At: changed}, {ID: other, At: changed}})
	require.NoError(t, err)
	require.Equal(t, []store.EventInOutbox{{OrderID: other, Confirmed: true}}, found)
}

func TestAnOrderThatIsErasedAfterItWasListedIsNoDifference(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations(), store.Migrations())
	r := &run{Deps: Deps{Store: store.New(pool, nil, nil), Feed: &others{}}, pace: newPacer(1000, nil), report: &Report{}}
	defer r.pace.ticker.Stop()
	f := &feed{tenantID: uuid.NewString(), newest: map[uuid.UUID]newest{}}
	require.NoError(t, r.checkEvents(t.Context(), f, ids(1)))
	require.Empty(t, r.report.Differences)
}

func ids(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("0198f2e4-0000-7000-8000-%012d", i))
	}
	return list
}

func TestAWrongDatabaseIsNotRepaired(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		orders, held int
		all          bool
		released     int
		refused      string
	}{
		"an empty database of orders": {orders: 0, held: 500, refused: "stock_held_without_order: 500 of 500"},
		"that, with --all":            {orders: 0, held: 500, all: true, released: 500},
		"an empty feed":               {orders: 20, refused: "last_event_missing: 20 of 20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &others{held: ids(tc.held)}
			report, pool, err := repair(t, tc.orders, o, Config{All: tc.all})
			require.Equal(t, tc.released, o.released)
			if tc.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrManyDifferences)
			require.ErrorContains(t, err, tc.refused)
			require.Len(t, report.Differences, report.Left(), "it tells what it found")
			require.NotEmpty(t, report.Differences)
			require.Zero(t, inOutbox(t, pool))
		})
	}
}

func TestTheShareThatMayDiffer(t *testing.T) {
	t.Parallel()
	report := func(found, compared int) *Report {
		r := &Report{Compared: Compared{Orders: compared, Events: 1}}
		for range found {
			r.Differences = append(r.Differences, Difference{Kind: EventMissing})
		}
		return r
	}
	require.NoError(t, report(500, 500).checkShare(), "a small platform lost its last hour")
	require.ErrorIs(t, report(501, 1001).checkShare(), ErrManyDifferences)
	require.NoError(t, report(5000, 100_000).checkShare())
	require.ErrorIs(t, report(5001, 100_000).checkShare(), ErrManyDifferences)
}

func TestAnErrorKeepsTheReport(t *testing.T) {
	t.Parallel()
	failure := errors.New("events is down")
	o := &others{held: ids(5), failure: failure}
	report, _, err := repair(t, 0, o, Config{All: true})
	require.ErrorIs(t, err, failure)
	require.Equal(t, 5, o.released)
	require.Len(t, report.Differences, 5)
	require.True(t, report.Differences[0].Repaired)
}
