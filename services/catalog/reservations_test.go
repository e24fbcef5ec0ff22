package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog"
)

// attempt is a new attempt at a unit, proposing a new order.
func (s *stack) attempt(campaignID, productID, size string) *catalogv1.ReserveRequest {
	return &catalogv1.ReserveRequest{
		ReservationKey: []byte(uuid.NewString()), OrderId: uuid.NewString(), TenantId: tenantID,
		CampaignId: campaignID, ProductId: productID, Variations: map[string]string{"Size": size},
	}
}

func (s *stack) settle(confirmed, released []string) {
	s.t.Helper()
	_, err := s.ordering.SettleReservations(s.t.Context(),
		&catalogv1.SettleReservationsRequest{ConfirmedOrderIds: confirmed, ReleasedOrderIds: released})
	require.NoError(s.t, err)
}

// shop runs a campaign with units of the sizes S and M each.
func shop(t *testing.T, units int32, change ...func(*catalog.Config)) (s *stack, campaignID, productID string) {
	t.Helper()
	s = setup(t, change...)
	p := gift()
	s.put(p)
	c := campaign(offering(p.GetId(), stocked, &units, "S", "M"))
	s.putCampaign(c)
	return s, c.GetId(), p.GetId()
}

func TestFiveHundredAtOnceGetAHundredUnits(t *testing.T) {
	const callers, units = 500, 100
	s, c, p := shop(t, units)
	var got, refused atomic.Int32
	var mu sync.Mutex
	var orders []string
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			r, err := s.ordering.Reserve(t.Context(), s.attempt(c, p, "S"))
			switch {
			case err == nil:
				got.Add(1)
				mu.Lock()
				defer mu.Unlock()
				orders = append(orders, r.GetOrderId())
				return nil
			case problem.Is(err, problem.OutOfStock):
				refused.Add(1)
				return nil
			default:
				return err
			}
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, units, got.Load())
	require.EqualValues(t, callers-units, refused.Load())
	require.Zero(t, *s.stock(c, "S"))
	require.EqualValues(t, units, *s.stock(c, "M"))

	for range 10 {
		group.Go(func() error {
			_, err := s.ordering.SettleReservations(t.Context(), &catalogv1.SettleReservationsRequest{ReleasedOrderIds: orders})
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, units, *s.stock(c, "S"), "each unit goes back once")
}

func TestAReplayGetsTheFirstReservation(t *testing.T) {
	s, c, p := shop(t, 10)
	first := s.attempt(c, p, "S")
	got, err := s.ordering.Reserve(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, first.GetOrderId(), got.GetOrderId())
	again := proto.CloneOf(first)
	again.OrderId = uuid.NewString()

	t.Run("while it is reserved", func(t *testing.T) {
		replay, err := s.ordering.Reserve(t.Context(), again)
		require.NoError(t, err)
		require.True(t, proto.Equal(got, replay))
		require.EqualValues(t, 9, *s.stock(c, "S"))
	})
	t.Run("but never for another combination", func(t *testing.T) {
		other := proto.CloneOf(first)
		other.Variations = map[string]string{"Size": "M"}
		_, err := s.ordering.Reserve(t.Context(), other)
		require.True(t, problem.Is(err, problem.IdempotencyInProgress), "%v", err)
		require.EqualValues(t, 10, *s.stock(c, "M"))
	})
	require.EqualValues(t, 9, *s.stock(c, "S"))
}

// A key outlives what is stored of its order's answer: used again later it names another order.
func TestASettledKeyReservesAnewUnderTheOrderProposed(t *testing.T) {
	s, c, p := shop(t, 10)
	first := s.attempt(c, p, "S")
	reserve := func(orderID string) *catalogv1.ReserveResponse {
		t.Helper()
		req := proto.CloneOf(first)
		req.OrderId = orderID
		got, err := s.ordering.Reserve(t.Context(), req)
		require.NoError(t, err)
		return got
	}
	one, two, three := first.GetOrderId(), uuid.NewString(), uuid.NewString()
	got := reserve(one)

	t.Run("when it was confirmed", func(t *testing.T) {
		s.settle([]string{one}, nil)
		fresh := reserve(two)
		require.Equal(t, two, fresh.GetOrderId())
		require.True(t, fresh.GetExpiresAt().AsTime().After(got.GetExpiresAt().AsTime()))
		require.EqualValues(t, 8, *s.stock(c, "S"))
		require.Equal(t, two, reserve(three).GetOrderId(), "while that is reserved it is the one")
		require.EqualValues(t, 8, *s.stock(c, "S"))
	})
	t.Run("the confirmed order is still released, once, and alone", func(t *testing.T) {
		s.settle(nil, []string{one})
		s.settle([]string{one}, []string{one, uuid.NewString()})
		require.EqualValues(t, 9, *s.stock(c, "S"))
		require.Equal(t, two, reserve(three).GetOrderId(), "the other keeps its unit")
	})
	t.Run("when it was released", func(t *testing.T) {
		s.settle(nil, []string{two})
		require.EqualValues(t, 10, *s.stock(c, "S"))
		require.Equal(t, three, reserve(three).GetOrderId())
		s.settle(nil, []string{one, two})
		require.EqualValues(t, 9, *s.stock(c, "S"), "the orders of before hold nothing any more")
	})
	t.Run("the order that has its unit for good takes no second one", func(t *testing.T) {
		s.settle([]string{three}, nil)
		require.Equal(t, three, reserve(three).GetOrderId())
		require.EqualValues(t, 9, *s.stock(c, "S"))
		s.settle(nil, []string{three})
		require.Equal(t, three, reserve(three).GetOrderId())
		require.EqualValues(t, 9, *s.stock(c, "S"), "but for one that was released")
	})
}

// Many at once with one key get one reservation, whether they are one request repeated, with one
// order proposed, or each proposes its own.
func TestManyAtOnceWithOneKeyGetOneReservation(t *testing.T) {
	const rounds, callers = 150, 16
	s, c, p := shop(t, rounds)
	for round := range rounds {
		req := s.attempt(c, p, "M")
		answers := make([]string, callers)
		var group errgroup.Group
		for i := range answers {
			mine := proto.CloneOf(req)
			if round%3 == 0 {
				mine.OrderId = uuid.NewString()
			}
			group.Go(func() error {
				r, err := s.ordering.Reserve(t.Context(), mine)
				answers[i] = r.GetOrderId()
				return err
			})
		}
		require.NoError(t, group.Wait())
		for _, a := range answers {
			require.Equal(t, answers[0], a)
		}
		require.EqualValues(t, rounds-round-1, *s.stock(c, "M"))
	}
}

func TestAKeyThatMetNoStockIsFree(t *testing.T) {
	s, c, p := shop(t, 1)
	holder, late := s.attempt(c, p, "S"), s.attempt(c, p, "S")
	_, err := s.ordering.Reserve(t.Context(), holder)
	require.NoError(t, err)
	_, err = s.ordering.Reserve(t.Context(), late)
	require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
	s.settle(nil, []string{holder.GetOrderId()})
	got, err := s.ordering.Reserve(t.Context(), late)
	require.NoError(t, err)
	require.Equal(t, late.GetOrderId(), got.GetOrderId())
}

func TestAnOfferingOnDemandIsNeverLimited(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	s.putCampaign(c)
	r := s.attempt(c.GetId(), p.GetId(), "S")
	_, err := s.ordering.Reserve(t.Context(), r)
	require.NoError(t, err)
	s.settle(nil, []string{r.GetOrderId()})
	require.Nil(t, s.stock(c.GetId(), "S"))
}

func TestFaultyReservations(t *testing.T) {
	s, c, p := shop(t, 5)
	for name, req := range map[string]*catalogv1.ReserveRequest{
		"a combination that is not offered": s.attempt(c, p, "XL"),
		"an unknown campaign":               s.attempt(uuid.NewString(), p, "S"),
		"an unknown gift":                   s.attempt(c, uuid.NewString(), "S"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.ordering.Reserve(t.Context(), req)
			require.True(t, problem.Is(err, problem.InvalidVariations), "%v", err)
		})
	}
	t.Run("the order of another reservation", func(t *testing.T) {
		first, second := s.attempt(c, p, "S"), s.attempt(c, p, "S")
		second.OrderId = first.GetOrderId()
		_, err := s.ordering.Reserve(t.Context(), first)
		require.NoError(t, err)
		_, err = s.ordering.Reserve(t.Context(), second)
		require.Equal(t, map[string]string{"orderId": problem.FieldInvalid}, violations(t, err))
		require.EqualValues(t, 4, *s.stock(c, "S"))
		s.settle(nil, []string{first.GetOrderId()})
		_, err = s.ordering.Reserve(t.Context(), second)
		require.Equal(t, map[string]string{"orderId": problem.FieldInvalid}, violations(t, err), "settled or not")
		require.EqualValues(t, 5, *s.stock(c, "S"))
	})
	t.Run("no ids", func(t *testing.T) {
		_, err := s.ordering.Reserve(t.Context(), &catalogv1.ReserveRequest{})
		require.Len(t, violations(t, err), 5)
		_, err = s.ordering.SettleReservations(t.Context(), &catalogv1.SettleReservationsRequest{
			ConfirmedOrderIds: []string{"x"}, ReleasedOrderIds: []string{uuid.NewString(), ""},
		})
		require.Equal(t, map[string]string{"confirmedOrderIds[0]": "invalid", "releasedOrderIds[1]": "invalid"}, violations(t, err))
		s.settle(nil, nil)
	})
	t.Run("a limit out of range", func(t *testing.T) {
		for _, n := range []int32{0, 1001} {
			_, err := s.ordering.ListExpiredReservations(t.Context(), &catalogv1.ListExpiredReservationsRequest{Limit: n})
			require.Equal(t, map[string]string{"limit": problem.FieldInvalid}, violations(t, err))
		}
	})
}

func TestExpiredReservationsAreListedUntilSettled(t *testing.T) {
	s, c, p := shop(t, 5, func(cfg *catalog.Config) { cfg.ReservationTTL = 50 * time.Millisecond })
	expired := func(n int32) []string {
		r, err := s.ordering.ListExpiredReservations(t.Context(), &catalogv1.ListExpiredReservationsRequest{Limit: n})
		require.NoError(t, err)
		return r.GetOrderIds()
	}
	var orders []string
	var first *catalogv1.ReserveRequest
	for range 3 {
		req := s.attempt(c, p, "S")
		if first == nil {
			first = req
		}
		got, err := s.ordering.Reserve(t.Context(), req)
		require.NoError(t, err)
		orders = append(orders, got.GetOrderId())
	}
	require.Eventually(t, func() bool { return len(expired(1000)) == 3 }, 5*time.Second, 5*time.Millisecond)
	require.Equal(t, orders, expired(1000), "oldest first")
	require.Equal(t, orders[:1], expired(1))
	replay, err := s.ordering.Reserve(t.Context(), first)
	require.NoError(t, err)
	require.True(t, replay.GetExpiresAt().AsTime().Before(time.Now()), "an expiry is never moved")
	s.settle(orders[:1], orders[1:2])
	require.Equal(t, orders[2:], expired(1000))
	require.EqualValues(t, 3, *s.stock(c, "S"))
}

// TestUnitsAreNeitherLostNorMade lets reservations and settlements of two SKUs run against each
// other, two orders to a key: what is left and what is held must always add up.
func TestUnitsAreNeitherLostNorMade(t *testing.T) {
	const workers, steps, units, keys = 8, 60, 4, 6
	s, c, p := shop(t, units)
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
					req := s.attempt(c, p, []string{"S", "M"}[i%2])
					req.ReservationKey, req.OrderId = fmt.Appendf(nil, "key %d", i%keys), orders[i]
					if _, err := s.ordering.Reserve(t.Context(), req); err != nil && !problem.Is(err, problem.OutOfStock) {
						return err
					}
					continue
				}
				pick := func() []string { return []string{orders[random.IntN(len(orders))], orders[i]} }
				req := &catalogv1.SettleReservationsRequest{ReleasedOrderIds: pick(), ConfirmedOrderIds: pick()}
				if _, err := s.ordering.SettleReservations(t.Context(), req); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	var left, held int32
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT sum(stock) FROM skus`).Scan(&left))
	require.NoError(t, s.db.QueryRow(t.Context(),
		`SELECT coalesce(sum(units), 0) FROM reservations WHERE state <> 'RELEASED'`).Scan(&held))
	require.EqualValues(t, 2*units, left+held)
}
