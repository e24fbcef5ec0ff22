package sender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// try makes an attempt of an endpoint.
func (s *schedule) try(e store.Endpoint, held, delivered bool) {
	t := s.startAttempt(e)
	if held {
		t.occupy()
	}
	t.finish(delivered)
}

func TestAnEndpointIsAsHealthyAsItsLastAttempts(t *testing.T) {
	t.Parallel()
	const (
		ok      = "quick delivery"
		refused = "quick failure"
		late    = "delivery that held its worker"
		silent  = "failure that held its worker"
		pause   = "no attempt during probation"
	)
	for name, c := range map[string]struct {
		attempts []string
		want     health
	}{
		"not tried":                       {want: dead},
		"answers":                         {attempts: []string{ok}, want: healthy},
		"refuses":                         {attempts: []string{refused}, want: healthy},
		"answers late":                    {attempts: []string{late}, want: slow},
		"answers quickly after probation": {attempts: []string{late, ok, pause, ok}, want: healthy},
		"refuses quickly after probation": {attempts: []string{late, ok, pause, refused}, want: slow},
		"answers at times":                {attempts: []string{late, ok, pause, silent, ok}, want: slow},
		"does not answer":                 {attempts: []string{ok, silent}, want: dead},
		"is still dead when it refuses":   {attempts: []string{silent, pause, refused}, want: dead},
		"comes back for good":             {attempts: []string{silent, silent, pause, ok}, want: healthy},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSchedule(8, 8)
			s.occupiedAfter = time.Hour
			for _, a := range c.attempts {
				if a == pause {
					h := s.histories[endpointOfKey(7)]
					h.lastOccupied = h.lastOccupied.Add(-probation)
					continue
				}
				s.try(endpointOfKey(7), a == late || a == silent, a == ok || a == late)
			}
			require.Equal(t, c.want, s.healthOf(endpointOfKey(7)))
			require.Equal(t, c.want != healthy && len(c.attempts) > 0, len(s.impaired()) == 1)
		})
	}
}

func TestAnEndpointIsSlowWhileAnAttemptHoldsItsWorker(t *testing.T) {
	t.Parallel()
	s := newSchedule(8, 8)
	s.occupiedAfter, s.probation = time.Millisecond, 0
	held := s.startAttempt(endpointOfKey(7))
	require.Eventually(t, func() bool { return len(s.impaired()) == 1 }, waitLimit, pollInterval)
	s.occupiedAfter = time.Hour
	s.try(endpointOfKey(7), false, true)
	require.Equal(t, slow, s.healthOf(endpointOfKey(7)), "another attempt has ended quickly")
	held.finish(true)
	held.occupy()
	s.try(endpointOfKey(7), false, true)
	require.Equal(t, healthy, s.healthOf(endpointOfKey(7)))
}

func TestTheHealthOfAnEndpointIsForgottenWhenItIsNotTried(t *testing.T) {
	t.Parallel()
	s := newSchedule(8, 8)
	s.try(endpointOfKey(7), false, true)
	s.try(endpointOfKey(8), true, true)
	require.Equal(t, map[health]int{healthy: 1, slow: 1, dead: 0}, s.count())
	s.claimed([]store.Delivery{{DeliveryID: store.DeliveryID{Endpoint: endpointOfKey(8)}}})
	s.forget(time.Now().Add(2 * forgetAfter))
	require.Equal(t, map[health]int{healthy: 0, slow: 1, dead: 0}, s.count(), "an attempt is in flight")
}

func TestAClaimGetsOneRowAtATimeOfAnEndpointThatMayHoldWorkers(t *testing.T) {
	t.Parallel()
	s := newSchedule(16, 8)
	s.occupiedAfter = time.Hour
	e := endpointOfKey(7)
	requireRows := func(rows int) {
		t.Helper()
		require.Equal(t, rows, s.budget(store.Due{Endpoint: e}).Rows)
	}
	d := store.Delivery{DeliveryID: store.DeliveryID{Endpoint: e}}
	requireRows(1)
	s.claimed([]store.Delivery{d})
	requireRows(0) // Its first attempt has not ended.
	s.try(e, false, true)
	requireRows(7)
	s.try(e, true, true)
	requireRows(1)
	s.try(e, true, false)
	requireRows(0)
	s.finished(d)
	requireRows(1)
}
