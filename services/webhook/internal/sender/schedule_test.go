package sender

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestTheScheduleTakesTheLeastBusyEndpointsFirst(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	due := func(key int32, second int) store.Due {
		return store.Due{Endpoint: store.Endpoint{KeyID: key}, Since: at(second)}
	}
	delivery := func(key int32) store.Delivery {
		return store.Delivery{DeliveryID: store.DeliveryID{Endpoint: store.Endpoint{KeyID: key}}}
	}
	const workers, limit, perEndpoint = 100, 4, 2
	s := newSchedule(workers, perEndpoint)
	for key := range int32(6) {
		s.startAttempt(due(key+1, 0).Endpoint).finish(true)
	}
	wanted := func(d store.Due, inFlight int) store.ClaimTarget {
		return store.ClaimTarget{Due: d, InFlight: inFlight, Rows: perEndpoint - inFlight}
	}
	s.claimed([]store.Delivery{delivery(1), delivery(2), delivery(2)})
	s.add(false, due(1, 10), due(2, 10), due(3, 30), due(4, 20))
	s.add(true, due(5, 5), due(6, 5))
	s.add(false, due(3, 40), due(6, 50))
	require.Empty(t, s.pick(0), "no worker is free")
	require.Equal(t, []store.ClaimTarget{
		wanted(due(6, 5), 0),  // It was passed, but has a new delivery. Its earlier time counts.
		wanted(due(4, 20), 0), // Those with none in flight in the order of their time.
		wanted(due(3, 30), 0),
		wanted(due(1, 10), 1),
	}, s.pick(limit))
	require.False(t, s.hasWork(), "5 was passed, and 2 has no free slot")
	require.Equal(t, []store.ClaimTarget{wanted(due(5, 5), 0)}, s.pick(limit))
	require.Empty(t, s.pick(limit))

	s.finished(delivery(2))
	require.False(t, s.empty())
	require.True(t, s.hasWork())
	require.Equal(t, []store.ClaimTarget{wanted(due(2, 10), 1)}, s.pick(limit))
	require.True(t, s.empty())
	s.finished(delivery(1), delivery(2))
	require.Empty(t, s.inFlight, "it does not grow with the endpoints that it has seen")
}

func TestAnEndpointThatWasNotTriedYetComesBeforeDeadOnes(t *testing.T) {
	t.Parallel()
	const workers, perEndpoint = 4, 2
	s := newSchedule(workers, perEndpoint)
	due := func(tenant string, second int64) store.Due {
		return store.Due{Endpoint: store.Endpoint{TenantID: tenant, KeyID: 1}, Since: time.Unix(second, 0)}
	}
	for second, tenant := range []string{"a", "b", "c"} {
		d := due(tenant, int64(second))
		s.histories[d.Endpoint] = &history{health: dead, lastOccupied: time.Now()}
		s.add(false, d)
	}
	s.add(false, due("new", 100))
	require.Equal(t, []store.ClaimTarget{{Due: due("new", 100), Rows: 1}, {Due: due("a", 0), Rows: 1}}, s.pick(workers),
		"half of the workers are for endpoints that are not healthy")
}

func TestHealthyEndpointsKeepHalfOfTheWorkers(t *testing.T) {
	t.Parallel()
	const workers = 16
	s := newSchedule(workers, 4)
	s.occupiedAfter = time.Hour
	// As many endpoints of each health as there are workers, the worst ones due first.
	for class := dead; class >= healthy; class-- {
		for i := range int32(workers) {
			e := store.Endpoint{TenantID: uuid.NewString(), KeyID: 100*int32(class) + i}
			s.try(e, class != healthy, class != dead)
			require.Equal(t, class, s.healthOf(e))
			s.add(false, store.Due{Endpoint: e, Since: time.Unix(int64(100-class), 0)})
		}
	}
	take := func() (unhealthy int, quick []store.Delivery) {
		for _, w := range s.pick(workers) {
			began := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: w.Endpoint}}
			s.claimed([]store.Delivery{began})
			if s.healthOf(w.Endpoint) == healthy {
				quick = append(quick, began)
			} else {
				unhealthy++
			}
		}
		return unhealthy, quick
	}
	unhealthy, quick := take()
	require.Equal(t, 8, unhealthy)
	require.Len(t, quick, 8)
	s.finished(quick...)
	unhealthy, quick = take()
	require.Zero(t, unhealthy, "only healthy endpoints get more, whatever is free")
	require.Len(t, quick, 8)
}

func TestEachEndpointMayHaveTheOnlyWorker(t *testing.T) {
	t.Parallel()
	for class := healthy; class <= dead; class++ {
		one := newWorkerUse(1)
		require.Positive(t, one.available(class, tenant), healthNames[class])
		one.add(dead, tenant, 1)
		require.LessOrEqual(t, one.available(class, "another"), 0, healthNames[class])
	}
}

// claim takes endpoints and begins as many deliveries to each as it may have. It returns the tenants of the deliveries.
func (s *schedule) claim(limit int) (n map[string]int) {
	n = map[string]int{}
	for _, w := range s.pick(limit) {
		for range w.Rows {
			n[w.TenantID]++
			s.claimed([]store.Delivery{{DeliveryID: store.DeliveryID{Endpoint: w.Endpoint}}})
		}
	}
	return n
}

func TestNoTenantGetsAllWorkers(t *testing.T) {
	t.Parallel()
	const workers, perEndpoint = 256, 8
	for endpoints, most := range map[int]int{1: perEndpoint, 20: 20 * perEndpoint, 30: 7 * 30, 224: 224, 500: 224} {
		t.Run(strconv.Itoa(endpoints)+" endpoints", func(t *testing.T) {
			t.Parallel()
			s := newSchedule(workers, perEndpoint)
			for key := range int32(endpoints) {
				s.try(endpointOfKey(key), false, true)
				s.add(false, store.Due{Endpoint: endpointOfKey(key)})
			}
			require.Equal(t, map[string]int{tenant: most}, s.claim(workers))

			var others []store.Endpoint
			for key := range int32(3) {
				others = append(others, store.Endpoint{TenantID: uuid.NewString(), KeyID: key})
				s.try(others[key], false, true)
				s.add(false, store.Due{Endpoint: others[key]})
			}
			require.True(t, s.hasWork())
			began := s.claim(workers - most)
			for _, e := range others {
				require.Equal(t, perEndpoint, began[e.TenantID])
			}
		})
	}
}

func TestTenantsThatFillTheWorkersTogetherLeaveSome(t *testing.T) {
	t.Parallel()
	for class, want := range map[health]int{healthy: 256 - 256/15 - 1, dead: 128 - 128/15 - 1} {
		s := newWorkerUse(256)
		for range 256 {
			for _, tenant := range []string{"one", "other"} {
				if s.available(class, tenant) > 0 {
					s.add(class, tenant, 1)
				}
			}
		}
		require.Equal(t, want, s.all.used, healthNames[class])
		require.Positive(t, s.available(class, "third"))
	}
}

func TestHealthyEndpointsKeepWorkersBesideManyThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	const silent, healthyKey, workers, most = 20, 1000, 8, 3
	f := setup(t)
	f.neverTimeOut()
	f.cfg.Workers, f.healthy = workers, []int32{healthyKey}
	release := make(chan struct{})
	allow := sync.OnceFunc(func() { close(release) })
	receiver := webhooktest.NewReceiver(t)
	receiver.Respond(webhooktest.Blocked(release))
	var keys []int32
	for key := range int32(silent) {
		keys = append(keys, key+1)
		f.activate(key+1, receiver)
	}
	f.receiver(healthyKey)
	s := f.start()
	t.Cleanup(allow)
	var last string
	for range 5 {
		last = f.event(keys...)
	}
	s.Wake()
	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == most }, waitLimit, pollInterval)
	for range 20 {
		id := f.event(healthyKey)
		s.Notify(f.due(healthyKey))
		f.waitFor(id, healthyKey, inState("DELIVERED"))
	}
	require.Len(t, receiver.Arrivals(), most, "they hold their part of the workers and no more")
	require.Equal(t, map[string]float64{"health=healthy": workers, "health=slow": workers / 2},
		f.tel.Values(t, "gifting.webhook.workers.limit"))
	require.InDelta(t, most, f.tel.Values(t, "gifting.webhook.workers")["health=slow"], 0)
	require.Equal(t, row{State: "PENDING", Next: f.row(last, 1).Next}, f.row(last, 1), "a delivery that waits is not changed")

	allow()
	for _, key := range keys {
		f.waitFor(last, key, inState("DELIVERED"))
	}
}
