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

func TestEachClassLeavesWorkersToTheBetterOnes(t *testing.T) {
	t.Parallel()
	const workers = 16
	s := newSchedule(workers, 4)
	s.occupiedAfter = time.Hour
	// As many endpoints of each class as there are workers, the worst ones due first.
	for class := dead; class >= healthy; class-- {
		for i := range int32(workers) {
			e := store.Endpoint{TenantID: uuid.NewString(), KeyID: 100*int32(class) + i}
			for range deadAfter * int(class/dead) {
				s.try(e, true, false)
			}
			if class == slow || class == healthy {
				s.try(e, class == slow, true)
			}
			require.Equal(t, class, s.healthOf(e))
			s.add(false, store.Due{Endpoint: e, Since: time.Unix(int64(100-class), 0)})
		}
	}
	take := func() (n [classes]int, quick []store.Delivery) {
		for _, w := range s.pick(workers) {
			began := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: w.Endpoint}}
			s.claimed([]store.Delivery{began})
			if n[s.healthOf(w.Endpoint)]++; s.healthOf(w.Endpoint) == healthy {
				quick = append(quick, began)
			}
		}
		return n, quick
	}
	n, quick := take()
	require.Equal(t, [classes]int{dead: 4, slow: 4, unknown: 4, healthy: 4}, n)
	for range 3 {
		s.finished(quick...)
		n, quick = take()
		require.Equal(t, [classes]int{healthy: 4}, n, "only healthy endpoints get more, whatever is free")
	}
}

func TestEachClassGetsAWorkerIfThereAreFew(t *testing.T) {
	t.Parallel()
	for of := healthy; of < classes; of++ {
		require.Positive(t, newSlots(1).available(of, tenant), healthNames[of])
	}
	require.Equal(t, [classes]int{healthy: 16, unknown: 12, slow: 8, dead: 4}, newSchedule(16, 8).workersLimit())
	one := newSlots(1)
	one.add(dead, tenant, 1)
	require.LessOrEqual(t, one.available(unknown, "another"), 0)
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
	for class := healthy; class < classes; class++ {
		s := newSlots(256)
		for range s.workers {
			for _, of := range []string{"one", "other"} {
				if s.available(class, of) > 0 {
					s.add(class, of, 1)
				}
			}
		}
		require.Equal(t, s.limit(class)/15+1, s.limit(class)-s.used[class], healthNames[class])
		require.Positive(t, s.available(class, "third"))
	}
}

// None of these endpoints answers, and the receivers of all classes are tried as often as they may.
func TestHealthyEndpointsKeepWorkersBesideManyThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	const silent, healthyKey, workers = 20, 1000, 8
	for name, arrange := range map[string]struct {
		of     func(s *schedule, e store.Endpoint)
		most   int
		health string
	}{
		"and have never answered": {func(*schedule, store.Endpoint) {}, 5, "unknown"},
		"but answer at times": {func(s *schedule, e store.Endpoint) {
			s.try(e, true, false)
			s.try(e, false, true)
		}, 3, "slow"},
		"and are dead": {func(s *schedule, e store.Endpoint) {
			for range deadAfter {
				s.try(e, true, false)
			}
		}, 1, "dead"},
	} {
		t.Run(name, func(t *testing.T) {
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
			for _, key := range keys {
				arrange.of(s.schedule, endpointOfKey(key))
			}
			var last string
			for range 5 {
				last, _ = f.event(keys...)
			}
			s.Wake()
			require.Eventually(t, func() bool { return len(receiver.Arrivals()) == arrange.most }, waitLimit, pollInterval)
			for range 20 {
				id, _ := f.event(healthyKey)
				s.Notify(f.due(healthyKey))
				f.until(id, healthyKey, inState("DELIVERED"))
			}
			require.Len(t, receiver.Arrivals(), arrange.most, "they hold their part of the workers and no more")
			used := f.tel.Values(t, "gifting.webhook.workers")
			require.InDelta(t, arrange.most, used["health=unknown"], 0, "with the worse ones")
			require.InDelta(t, arrange.most, used["health="+arrange.health], 0)
			require.Equal(t, row{State: "PENDING", Next: f.row(last, 1).Next}, f.row(last, 1), "a delivery that waits is not changed")

			allow()
			for _, key := range keys {
				f.until(last, key, inState("DELIVERED"))
			}
		})
	}
}
