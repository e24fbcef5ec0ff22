package sender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/store"
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
