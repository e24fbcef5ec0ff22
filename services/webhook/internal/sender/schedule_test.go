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
	s := newSchedule()
	s.began([]store.Delivery{delivery(1), delivery(2), delivery(2)})
	s.add(false, due(1, 10), due(2, 10), due(3, 30), due(4, 20))
	s.add(true, due(5, 5), due(6, 5))
	s.add(false, due(3, 40), due(6, 50))
	const limit, perEndpoint = 4, 2
	require.Empty(t, s.take(0, perEndpoint), "no worker is free")
	require.Equal(t, []store.Wanted{
		{Due: due(6, 5)},  // It was passed, but has a new delivery. Its earlier time counts.
		{Due: due(4, 20)}, // Those with none in flight in the order of their time.
		{Due: due(3, 30)},
		{Due: due(1, 10), InFlight: 1},
	}, s.take(limit, perEndpoint))
	require.Equal(t, []store.Wanted{{Due: due(5, 5)}}, s.take(limit, perEndpoint), "2 has no free slot")
	require.Empty(t, s.take(limit, perEndpoint))

	s.ended(delivery(2))
	require.False(t, s.empty())
	require.Equal(t, []store.Wanted{{Due: due(2, 10), InFlight: 1}}, s.take(limit, perEndpoint))
	require.True(t, s.empty())
	s.ended(delivery(1), delivery(2))
	require.Empty(t, s.inFlight, "it does not grow with the endpoints that it has seen")
}
