package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

func TestARepeatedRequestGetsTheFirstReservation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	first := attempt(c, p, "S")
	got := call(f, f.ordering.Reserve, first)
	require.Equal(t, first.GetOrderId(), got.GetOrderId())
	again := proto.CloneOf(first)
	again.OrderId = uuid.NewString()
	t.Run("while it is reserved", func(t *testing.T) {
		replay := call(f, f.ordering.Reserve, again)
		require.True(t, proto.Equal(got, replay))
		require.EqualValues(t, 9, *f.stock(c, "S"))
	})
	t.Run("but never for another combination", func(t *testing.T) {
		other := proto.CloneOf(first)
		other.Variations = map[string]string{"Size": "M"}
		refused(f, problem.IdempotencyInProgress, f.ordering.Reserve, other)
		require.EqualValues(t, 10, *f.stock(c, "M"))
	})
	require.EqualValues(t, 9, *f.stock(c, "S"))
}

// A key may be used again after the stored answer of its order was deleted. It then belongs to another order.
func TestAConfirmedOrReleasedKeyReservesAgainForTheProposedOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	first := attempt(c, p, "S")
	reserve := func(orderID string) *catalogv1.ReserveResponse {
		t.Helper()
		req := proto.CloneOf(first)
		req.OrderId = orderID
		got := call(f, f.ordering.Reserve, req)
		return got
	}
	one, two, three := first.GetOrderId(), uuid.NewString(), uuid.NewString()
	got := reserve(one)
	t.Run("when it was confirmed", func(t *testing.T) {
		f.confirmAndRelease([]string{one}, nil)
		fresh := reserve(two)
		require.Equal(t, two, fresh.GetOrderId())
		require.True(t, fresh.GetExpiresAt().AsTime().After(got.GetExpiresAt().AsTime()))
		require.EqualValues(t, 8, *f.stock(c, "S"))
		require.Equal(t, two, reserve(three).GetOrderId(), "while it is reserved, its order is returned")
		require.EqualValues(t, 8, *f.stock(c, "S"))
	})
	t.Run("releasing the confirmed order releases its unit once and no other", func(t *testing.T) {
		f.confirmAndRelease(nil, []string{one})
		f.confirmAndRelease([]string{one}, []string{one, uuid.NewString()})
		require.EqualValues(t, 9, *f.stock(c, "S"))
		require.Equal(t, two, reserve(three).GetOrderId(), "the second order keeps its unit")
	})
	t.Run("when it was released", func(t *testing.T) {
		f.confirmAndRelease(nil, []string{two})
		require.EqualValues(t, 10, *f.stock(c, "S"))
		require.Equal(t, three, reserve(three).GetOrderId())
		f.confirmAndRelease(nil, []string{one, two})
		require.EqualValues(t, 9, *f.stock(c, "S"), "the earlier orders hold no unit")
	})
	t.Run("a confirmed order does not take a second unit", func(t *testing.T) {
		f.confirmAndRelease([]string{three}, nil)
		require.Equal(t, three, reserve(three).GetOrderId())
		require.EqualValues(t, 9, *f.stock(c, "S"))
		f.confirmAndRelease(nil, []string{three})
		require.Equal(t, three, reserve(three).GetOrderId())
		require.EqualValues(t, 9, *f.stock(c, "S"), "unless it was released")
	})
}

// The requests either repeat one request, which proposes one order, or each propose their own order.
func TestConcurrentRequestsWithOneKeyGetOneReservation(t *testing.T) {
	t.Parallel()
	const attempts, callers = 150, 16
	f := setup(t)
	c, p := f.campaignWithStock(attempts)
	for i := range attempts {
		req := attempt(c, p, "M")
		answers := make([]string, callers)
		var group errgroup.Group
		for caller := range answers {
			mine := proto.CloneOf(req)
			if i%3 == 0 {
				mine.OrderId = uuid.NewString()
			}
			group.Go(func() error {
				r, err := f.ordering.Reserve(t.Context(), mine)
				answers[caller] = r.GetOrderId()
				return err
			})
		}
		require.NoError(t, group.Wait())
		for _, a := range answers {
			require.Equal(t, answers[0], a)
		}
		require.EqualValues(t, attempts-i-1, *f.stock(c, "M"))
	}
}

func TestAKeyThatWasOutOfStockCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(1)
	holder, late := attempt(c, p, "S"), attempt(c, p, "S")
	call(f, f.ordering.Reserve, holder)
	refused(f, problem.OutOfStock, f.ordering.Reserve, late)
	f.confirmAndRelease(nil, []string{holder.GetOrderId()})
	got := call(f, f.ordering.Reserve, late)
	require.Equal(t, late.GetOrderId(), got.GetOrderId())
}

func TestAnOfferingOnDemandIsNeverLimited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S"))
	r := attempt(c, p.GetId(), "S")
	call(f, f.ordering.Reserve, r)
	f.confirmAndRelease(nil, []string{r.GetOrderId()})
	require.Nil(t, f.stock(c, "S"))
}

func TestInvalidReservations(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(5)
	for name, tc := range map[string]struct {
		req  *catalogv1.ReserveRequest
		want problem.Code
	}{
		"a combination that is not offered": {attempt(c, p, "XL"), problem.InvalidVariations},
		"an unknown campaign":               {attempt(uuid.NewString(), p, "S"), problem.ProductNotInCampaign},
		"an unknown gift":                   {attempt(c, uuid.NewString(), "S"), problem.ProductNotInCampaign},
	} {
		t.Run(name, func(*testing.T) {
			refused(f, tc.want, f.ordering.Reserve, tc.req)
		})
	}
	t.Run("the order of another reservation", func(t *testing.T) {
		first, second := attempt(c, p, "S"), attempt(c, p, "S")
		second.OrderId = first.GetOrderId()
		call(f, f.ordering.Reserve, first)
		require.Equal(t, codes{"orderId": problem.FieldInvalid}, violations(f, f.ordering.Reserve, second))
		require.EqualValues(t, 4, *f.stock(c, "S"))
		f.confirmAndRelease(nil, []string{first.GetOrderId()})
		require.Equal(t, codes{"orderId": problem.FieldInvalid}, violations(f, f.ordering.Reserve, second), "also after it was released")
		require.EqualValues(t, 5, *f.stock(c, "S"))
	})
	t.Run("the key of another tenant's reservation", func(*testing.T) {
		first, second := attempt(c, p, "M"), attempt(c, p, "M")
		second.ReservationKey, second.TenantId = first.GetReservationKey(), pgtest.TwinTenant
		call(f, f.ordering.Reserve, first)
		refused(f, problem.IdempotencyInProgress, f.ordering.Reserve, second)
	})
	t.Run("no ids", func(t *testing.T) {
		require.Len(t, violations(f, f.ordering.Reserve, &catalogv1.ReserveRequest{}), 5)
		req := &catalogv1.SettleReservationsRequest{ConfirmedOrderIds: []string{"x"}, ReleasedOrderIds: []string{uuid.NewString(), ""}}
		require.Equal(t, codes{"confirmedOrderIds[0]": "invalid", "releasedOrderIds[1]": "invalid"},
			violations(f, f.ordering.SettleReservations, req))
		f.confirmAndRelease(nil, nil)
	})
	t.Run("a limit out of range", func(t *testing.T) {
		for _, n := range []int32{0, 1001} {
			req := &catalogv1.ListExpiredReservationsRequest{Limit: n}
			require.Equal(t, codes{"limit": "invalid"}, violations(f, f.ordering.ListExpiredReservations, req))
		}
	})
}

func TestExpiredReservationsAreListedUntilConfirmedOrReleased(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(5)
	expired := func(n int32) (orders []string) {
		listed := call(f, f.ordering.ListExpiredReservations, &catalogv1.ListExpiredReservationsRequest{Limit: n})
		for _, r := range listed.GetReservations() {
			require.Equal(t, tenantID, r.GetTenantId())
			orders = append(orders, r.GetOrderId())
		}
		return orders
	}
	var orders []string
	first := attempt(c, p, "S")
	for _, req := range []*catalogv1.ReserveRequest{first, attempt(c, p, "S"), attempt(c, p, "S")} {
		orders = append(orders, call(f, f.ordering.Reserve, req).GetOrderId())
	}
	require.Empty(t, expired(1000))
	pgtest.Exec(t, f.db, `UPDATE reservations SET expires_at = expires_at - interval '1 hour'`)
	require.Equal(t, orders, expired(1000), "oldest first")
	require.Equal(t, orders[:1], expired(1))
	replay := call(f, f.ordering.Reserve, first)
	require.True(t, replay.GetExpiresAt().AsTime().Before(time.Now()), "an expiry never changes")
	f.confirmAndRelease(orders[:1], orders[1:2])
	require.Equal(t, orders[2:], expired(1000))
	require.EqualValues(t, 3, *f.stock(c, "S"))
}

// The clock of the database was ahead when a unit was reserved, and a crash prevented the order.
func TestAReservationOfAClockThatWasAheadExpires(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(5)
	order := call(f, f.ordering.Reserve, attempt(c, p, "S")).GetOrderId()
	expired := func() []*catalogv1.ExpiredReservation {
		req := &catalogv1.ListExpiredReservationsRequest{Limit: 10}
		return call(f, f.ordering.ListExpiredReservations, req).GetReservations()
	}
	pgtest.Exec(t, f.db, `UPDATE reservations SET expires_at = expires_at + interval '59 minutes'`)
	require.Empty(t, expired(), "its order may still be placed")
	pgtest.Exec(t, f.db, `UPDATE reservations SET expires_at = expires_at + interval '2 minutes'`)
	require.Len(t, expired(), 1)
	require.Equal(t, order, expired()[0].GetOrderId())
}

// Reservations, confirmations and releases of two SKUs run concurrently, with two orders per key. The stock and the held units
// must add up.
func TestUnitsAreNeitherLostNorAdded(t *testing.T) {
	t.Parallel()
	const workers, steps, units, keys = 8, 60, 4, 6
	f := setup(t)
	c, p := f.campaignWithStock(units)
	orders := make([]string, 12)
	for i := range orders {
		orders[i] = uuid.NewString()
	}
	var group errgroup.Group
	for w := range workers {
		random := rand.New(rand.NewPCG(2, uint64(w)))
		group.Go(func() error {
			for range steps {
				i := random.IntN(len(orders))
				if random.IntN(2) == 0 {
					req := attempt(c, p, []string{"S", "M"}[i%2])
					req.ReservationKey, req.OrderId = fmt.Appendf(nil, "key %d", i%keys), orders[i]
					if _, err := f.ordering.Reserve(t.Context(), req); err != nil && !problem.Is(err, problem.OutOfStock) {
						return err
					}
					continue
				}
				pick := func() []string { return []string{orders[random.IntN(len(orders))], orders[i]} }
				req := &catalogv1.SettleReservationsRequest{ReleasedOrderIds: pick(), ConfirmedOrderIds: pick()}
				if _, err := f.ordering.SettleReservations(t.Context(), req); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	left := pgtest.Value[int32](t, f.db, `SELECT sum(stock) FROM skus WHERE tenant_id = $1`, tenantID)
	held := pgtest.Value[int32](t, f.db, `SELECT coalesce(sum(units), 0) FROM reservations WHERE state <> 'RELEASED'`)
	require.EqualValues(t, 2*units, left+held)
}

func TestOutstandingReservationsAreReported(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	held := func() store.Outstanding {
		o, err := store.New(f.db, false).Outstanding(t.Context())
		require.NoError(t, err)
		return o
	}
	require.Zero(t, held())

	first, second := attempt(c, p, "S"), attempt(c, p, "M")
	for _, attempt := range []*catalogv1.ReserveRequest{first, second} {
		call(f, f.ordering.Reserve, attempt)
	}
	require.Equal(t, store.Outstanding{Units: 2}, held())

	pgtest.Exec(t, f.db, `UPDATE reservations SET expires_at = clock_timestamp() - interval '1 hour' WHERE order_id = $1`,
		first.GetOrderId())
	require.InDelta(t, time.Hour, held().Overdue, float64(time.Minute))

	f.confirmAndRelease([]string{first.GetOrderId()}, []string{second.GetOrderId()})
	require.Zero(t, held())
}

func TestReservationsAreListedByTheirOrders(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	var ids []string
	keys := map[string][]byte{}
	for range 5 {
		request := attempt(c, p, "S")
		call(f, f.ordering.Reserve, request)
		ids, keys[request.GetOrderId()] = append(ids, request.GetOrderId()), request.GetReservationKey()
	}
	slices.Sort(ids)
	f.confirmAndRelease(ids[1:2], ids[2:3])

	t.Run("page by page, if they hold stock", func(t *testing.T) {
		var listed []string
		request := &catalogv1.ListReservationsRequest{Limit: 3}
		for {
			page := call(f, f.ordering.ListReservations, request).GetReservations()
			for _, r := range page {
				require.Equal(t, keys[r.GetOrderId()], r.GetReservationKey())
				listed = append(listed, r.GetOrderId())
			}
			if len(page) < 3 {
				break
			}
			request.AfterOrderId = &page[2].OrderId
		}
		require.Equal(t, []string{ids[0], ids[1], ids[3], ids[4]}, listed)
	})
	t.Run("or by name, in every state", func(t *testing.T) {
		page := call(f, f.ordering.ListReservations, &catalogv1.ListReservationsRequest{OrderIds: ids[:3]}).GetReservations()
		var states []catalogv1.ReservationState
		for _, r := range page {
			states = append(states, r.GetState())
		}
		require.Equal(t, []catalogv1.ReservationState{
			catalogv1.ReservationState_RESERVATION_STATE_RESERVED, catalogv1.ReservationState_RESERVATION_STATE_CONFIRMED,
			catalogv1.ReservationState_RESERVATION_STATE_RELEASED,
		}, states)
	})
	t.Run("and a page has a limit", func(t *testing.T) {
		for _, request := range []*catalogv1.ListReservationsRequest{
			{}, {Limit: 5001}, {Limit: 1, AfterOrderId: new("x")}, {OrderIds: []string{"x"}}, {OrderIds: make([]string, 5001)},
		} {
			_, err := f.ordering.ListReservations(t.Context(), request)
			require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
		}
	})
}
