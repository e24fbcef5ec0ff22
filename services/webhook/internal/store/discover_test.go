package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wanted is an endpoint of tenant A.
func wanted(key int32, since time.Time, inFlight int) ClaimTarget {
	return ClaimTarget{Due: Due{Endpoint: Endpoint{tenantA, key}, Since: since}, InFlight: inFlight}
}

// utc are the endpoints with times that can be compared.
func utc(list []Due) []Due {
	for i := range list {
		list[i].Since = list[i].Since.UTC()
	}
	return list
}

// claimAs claims for the endpoints at noon.
func (f *fixture) claimAs(t *testing.T, sender int64, perEndpoint int, endpoints ...ClaimTarget) Claimed {
	t.Helper()
	f.now = noon
	for i := range endpoints {
		endpoints[i].Rows = perEndpoint
	}
	r := request(100)
	r.Sender, r.Share, r.Endpoints = sender, perEndpoint, endpoints
	claimed, err := f.Claim(t.Context(), r)
	require.NoError(t, err)
	return claimed
}

func TestAClaimCountsTheLeasesOfOtherSenders(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const first, second = 1, 2
	for range 20 {
		f.addEvent(t, tenantA, noon, 7)
	}
	require.NoError(t, f.Register(t.Context(), first))
	require.Empty(t, f.claimAs(t, second, 8, wanted(7, noon, 0)).Deliveries, "a sender that is not registered gets nothing")
	require.NoError(t, f.Register(t.Context(), second))

	got := f.claimAs(t, first, 3, wanted(7, noon, 0)).Deliveries
	require.Len(t, got, 3)
	require.Empty(t, f.claimAs(t, first, 3, wanted(7, noon, 3)).Deliveries, "its own are in flight")
	require.Empty(t, f.claimAs(t, second, 3, wanted(7, noon, 0)).Deliveries, "those of the other are counted")
	require.Len(t, f.claimAs(t, second, 8, wanted(7, noon, 1)).Deliveries, 4, "both are counted")
	require.NoError(t, f.record(t, got[0], delivered, 200))
	require.NoError(t, f.Release(t.Context(), got[1:2], time.Hour))
	require.Len(t, f.claimAs(t, second, 8, wanted(7, noon, 5)).Deliveries, 2, "leases that have ended are not counted")
}

func TestAClaimBeginsWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const sender = 1
	require.NoError(t, f.Register(t.Context(), sender))
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds-60) * time.Second) }
	for i := range 6 {
		f.addEvent(t, tenantA, at(i), 7)
	}
	first := f.claimAs(t, sender, 2, wanted(7, at(1), 0))
	require.Len(t, first.Deliveries, 2)
	require.Equal(t, []Due{wanted(7, at(2), 0).Due}, utc(first.Unclaimed))
	blocked := f.claimAs(t, sender, 2, wanted(7, at(1), 2))
	require.Equal(t, []Due{wanted(7, at(3), 0).Due}, utc(blocked.Unclaimed), "without a slot it begins with the first due row")
	require.Empty(t, blocked.Deliveries)

	rest := f.claimAs(t, sender, 8, ClaimTarget{Due: blocked.Unclaimed[0], InFlight: 2})
	require.Len(t, rest.Deliveries, 3)
	require.Empty(t, rest.Unclaimed)
	found, err := f.Discover(t.Context(), sender, false)
	require.NoError(t, err)
	require.True(t, found.Registered)
	require.Empty(t, found.Pending)
	require.Equal(t, []Due{wanted(7, at(0), 0).Due}, utc(found.Due), "a search finds what no claim looked at")
}

func TestARegistrationIsRenewedBeforeItIsForgotten(t *testing.T) {
	t.Parallel()
	f := setup(t)
	registered := func(after time.Duration) bool {
		t.Helper()
		f.now = noon.Add(after)
		found, err := f.Discover(t.Context(), 1, false)
		require.NoError(t, err)
		return found.Registered
	}
	f.now = noon
	require.NoError(t, f.Register(t.Context(), 1))
	require.True(t, registered(9*time.Minute))
	require.False(t, registered(10*time.Minute), "it must be renewed")
	require.NoError(t, f.ForgetSenders(t.Context()))
	require.Equal(t, 1, f.count(t, "senders"), "its leases may not have ended")
	f.now = noon.Add(61 * time.Minute)
	require.NoError(t, f.ForgetSenders(t.Context()))
	require.Zero(t, f.count(t, "senders"))
}

func TestASearchSaysWhenTheNextRowIsDue(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	next := func(at time.Time) time.Duration {
		f.now = at
		found, err := f.Discover(t.Context(), 1, false)
		require.NoError(t, err)
		require.Equal(t, at, found.StartedAt.UTC())
		return found.NextDue
	}
	require.Zero(t, next(noon), "nothing is pending")
	f.addEvent(t, tenantA, noon, 7)
	f.addEvent(t, tenantB, noon, 8)
	require.Zero(t, next(noon), "all that is pending is due")
	taken := f.claim(t, noon, 100, 100)
	require.Equal(t, 30*time.Second, next(noon), "leases end")
	for _, d := range taken {
		require.NoError(t, f.record(t, d, retryIn1h, 500))
	}
	require.Equal(t, 40*time.Minute, next(noon.Add(20*time.Minute)))
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, 7}}, time.Hour))
	require.Equal(t, 20*time.Minute, next(noon.Add(time.Hour)), "of a paused endpoint when the pause ends")
}
