package feedwait

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestHeldCallsDoNotEndAtTheSameMoment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ within, want time.Duration }{
		"at the rate of a stream that begins": {time.Minute, 100 * time.Millisecond},
		"sooner, if the drain ends sooner":    {10 * time.Millisecond, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := New(Deps{Meter: telemetry.Discard().Meters.Meter("test")}, Config{MaxHeld: 200, EndWithin: tc.within})
			require.NoError(t, err)
			var group sync.WaitGroup
			outcomes := make(chan Outcome, 200)
			for key := range int32(200) {
				p := caller.Principal{TenantID: "a", KeyID: key}
				waiter := w.Register(p)
				place := w.Enter(t.Context(), p, time.Hour)
				require.NotNil(t, place)
				group.Go(func() {
					defer waiter.Leave()
					defer place.Leave(t.Context())
					outcomes <- waiter.Wait(t.Context(), time.NewTimer(time.Hour))
				})
			}
			w.End()
			require.Equal(t, tc.want, w.endTime)
			group.Wait()
			for range 200 {
				require.Equal(t, Over, <-outcomes)
			}
			require.Zero(t, w.places.count())
			require.Nil(t, w.Enter(t.Context(), caller.Principal{TenantID: "a", KeyID: 1}, time.Hour))
		})
	}
}
