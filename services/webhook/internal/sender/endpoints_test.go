package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestDeliveriesOfAnEndpointThatIsGoneAreDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	f.start()
	id := f.event(7, 8)
	require.Equal(t, row{State: "DROPPED"}, f.waitFor(id, 7, inState("DROPPED")))
	require.Equal(t, row{State: "DROPPED"}, f.waitFor(id, 8, inState("DROPPED")), "a key that does not exist")
}

// The key had the brand when the event was fanned out.
func TestAnEventThatTheKeyMayNotSeeAnyMoreIsDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	receiver := f.receiver(7, webhooktest.Status(http.StatusServiceUnavailable))
	s := f.start()
	id := f.event(7)
	r := f.waitFor(id, 7, attempted(1))
	changed := receiver.Endpoint(7)
	changed.AllBrands, changed.BrandIds = false, []string{"0190bbbb-0000-7000-8000-000000000009"}
	f.directory.SetEndpoint(changed)
	f.clock.set(*r.Next)
	s.Wake()
	f.waitFor(id, 7, inState("DROPPED"))
	require.Len(t, receiver.Arrivals(), 1)
}

// Dropping a delivery is final, but the key may have got its right, or its URL, since the earlier lookup.
func TestARightThatIsMissingIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	s := f.start()
	d := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: endpointOfKey(7)}, Type: "order.created"}
	for _, then := range []endpoint{{url: "https://old.example", grants: &tenantsv1.Endpoint{}}, {}} {
		found, err := s.endpointsOf(t.Context(), []store.Delivery{d}, earlierLookup{time.Now(), endpoints{7: then}})
		require.NoError(t, err)
		require.False(t, found[7].mustDrop(d))
	}
}
