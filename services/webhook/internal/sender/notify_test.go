package sender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTheEndpointOfANotifiedKeyIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Poll = time.Hour
	f.receiver(7)
	f.receiver(8)
	delivered := func(id string) {
		f.until(id, 7, inState("DELIVERED"))
		f.until(id, 8, inState("DELIVERED"))
	}
	first, _ := f.event(7, 8)
	s := f.start()
	delivered(first)
	require.Equal(t, 1, f.lookups(), "after the claim, without a notification")

	// From now on it claims only when it is notified.
	second, _ := f.event(7, 8)
	s.Notify([]int32{8, 7, 8})
	delivered(second)
	require.Equal(t, 2, f.lookups(), "while they were claimed")

	third, _ := f.event(7, 8)
	s.Notify([]int32{8})
	delivered(third)
	require.Equal(t, 4, f.lookups(), "a claimed key without a notification is looked up after the claim")
}

// Dropping a delivery is final, and the endpoint may have been set again while the claim waited.
func TestAnEndpointThatIsGoneIsLookedUpAgainAfterTheClaim(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Poll = time.Hour
	f.receiver(8)
	f.directory.SetEndpoint(&tenantsv1.Endpoint{KeyId: 7, State: tenantsv1.EndpointState_ENDPOINT_STATE_GONE})
	first, _ := f.event(8)
	s := f.start()
	f.until(first, 8, inState("DELIVERED"))

	before := f.lookups()
	second, _ := f.event(7)
	s.Notify([]int32{7})
	f.until(second, 7, inState("DROPPED"))
	require.Equal(t, 2, f.lookups()-before)
}

func TestNoMoreKeysAreCollectedThanAClaimCanTake(t *testing.T) {
	t.Parallel()
	var k storedKeys
	k.add([]int32{1, 2}, 3)
	k.add([]int32{3, 4}, 3)
	k.add([]int32{5}, 3)
	require.Equal(t, []int32{1, 2, 3}, k.take())
	require.Empty(t, k.take())
}
