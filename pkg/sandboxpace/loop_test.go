package sandboxpace_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/sandboxpace"
)

func TestALoopSleepsUntilTheNextStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		waits := []time.Duration{3 * time.Second, 0, -time.Second, time.Hour}
		loop := sandboxpace.NewLoop("steps", slog.New(slog.DiscardHandler)).Part(func(context.Context) (time.Duration, bool, error) {
			at = append(at, time.Since(begin))
			if len(at) > len(waits) {
				return 0, false, nil
			}
			return waits[len(at)-1], true, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Second)
		defer cancel()
		require.NoError(t, loop.Run(ctx))
		const s, soonest = time.Second, 20 * time.Millisecond
		require.Equal(t, []time.Duration{0, 3 * s, 3*s + soonest, 3*s + 2*soonest, 13*s + 2*soonest, 23*s + 2*soonest}, at,
			"far and unknown steps are looked for every ten seconds")
	})
}

func TestALoopIsWokenAndGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		var log bytes.Buffer
		loop := sandboxpace.NewLoop("steps", slog.New(slog.NewTextHandler(&log, nil)))
		part := loop.Part(func(context.Context) (time.Duration, bool, error) {
			ran.Add(1)
			return 0, true, errors.New("broken")
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- part.Run(ctx) }()
		synctest.Wait()
		require.EqualValues(t, 1, ran.Load())
		loop.Wake()
		synctest.Wait()
		require.EqualValues(t, 2, ran.Load(), "an error does not make it run at once")
		<-time.After(11 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 3, ran.Load())
		cancel()
		require.NoError(t, <-ended)
		require.Contains(t, log.String(), "work=steps error=broken")
	})
}
