package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestAPartThatFailsStopsTheOthers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	err := daemon.Run(t.Context(), slog.New(slog.DiscardHandler),
		daemon.Part{Name: "waits", Run: untilDone},
		daemon.Part{Name: "fails", Run: func(context.Context) error { return broken }})
	require.ErrorIs(t, err, broken)
}

func TestAPartThatEndsEarlyIsAnError(t *testing.T) {
	t.Parallel()
	err := daemon.Run(t.Context(), slog.New(slog.DiscardHandler),
		daemon.Part{Name: "waits", Run: untilDone},
		daemon.Part{Name: "returns", Run: func(context.Context) error { return nil }})
	require.ErrorContains(t, err, "returns")
}

func TestTheMetricsPortSaysNotReadyUntilTheOtherPartsHaveEnded(t *testing.T) {
	t.Parallel()
	addr := testenv.FreeAddr(t)
	tel, err := telemetry.New(t.Context(), "example", telemetry.Config{MetricsAddr: addr}, io.Discard)
	require.NoError(t, err)
	// readyStatus is the status of /readyz, or 0 if the port is closed.
	readyStatus := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}

	ctx, cancel := context.WithCancel(t.Context())
	drained, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- daemon.Run(ctx, slog.New(slog.DiscardHandler),
			daemon.Part{Name: "drains", Run: func(ctx context.Context) error { <-ctx.Done(); <-drained; return nil }},
			// The service is ready until ctx, the context of all its parts, ends.
			daemon.Metrics(tel, func(context.Context) error { return ctx.Err() }))
	}()
	require.Eventually(t, func() bool { return readyStatus() == http.StatusOK }, 30*time.Second, 5*time.Millisecond)
	cancel()
	require.Equal(t, http.StatusServiceUnavailable, readyStatus())
	close(drained)
	require.NoError(t, <-ended)
	require.Zero(t, readyStatus())
}

func TestTheEndOfTheContextIsNoError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, daemon.Run(ctx, slog.New(slog.DiscardHandler), daemon.Part{Name: "waits", Run: untilDone}))
}

func TestMainRunsTheNamedCommand(t *testing.T) {
	t.Parallel()
	var cfg struct {
		Addr string `env:"ADDR" doc:"Where to listen."`
	}
	var ran bool
	serve := daemon.Command{Name: "serve", Short: "serve", Run: func(context.Context) error { ran = true; return nil }}
	var out bytes.Buffer
	require.Equal(t, 0, daemon.Main([]string{"orders", "serve"}, &out, &cfg, serve))
	require.True(t, ran)
	require.Equal(t, 2, daemon.Main([]string{"orders", "dance"}, &out, &cfg, serve))
	require.Contains(t, out.String(), "GIFTING_ADDR")
}

func TestPeriodicWorkRunsImmediatelyAndContinuesAfterAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		var log bytes.Buffer
		tel := telemetry.Discard()
		tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
		part := daemon.Every("sweep", time.Hour, tel, func(context.Context) error {
			ran.Add(1)
			return errors.New("broken")
		})
		require.Equal(t, "sweep", part.Name)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- part.Run(ctx) }()
		synctest.Wait()
		require.EqualValues(t, 1, ran.Load())
		<-time.After(2 * time.Hour)
		synctest.Wait()
		require.EqualValues(t, 3, ran.Load())
		cancel()
		require.NoError(t, <-ended)
		require.EqualValues(t, 3, ran.Load())
		require.Contains(t, log.String(), "work=sweep error=broken")
	})
}

func TestAnIntervalThatIsNotPositiveIsAnError(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{0, -time.Second} {
		part := daemon.Every("sweep", interval, telemetry.Discard(), func(context.Context) error { return nil })
		require.ErrorContains(t, daemon.Run(t.Context(), slog.New(slog.DiscardHandler), part), "sweep: the interval must be positive")
	}
}

func TestBatchesEndWithAShortOneOrAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		batches []int
		err     error
		left    int
	}{
		"nothing to do": {batches: []int{0, 5}, left: 1},
		"a short batch": {batches: []int{5, 5, 4, 5}, left: 1},
		"an error":      {batches: []int{5, 5}, err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := daemon.InBatches(t.Context(), 5, func(_ context.Context, limit int) (int, error) {
				require.Equal(t, 5, limit)
				if len(tc.batches) == 0 {
					return 5, tc.err
				}
				n := tc.batches[0]
				tc.batches = tc.batches[1:]
				return n, nil
			})
			require.ErrorIs(t, err, tc.err)
			require.Len(t, tc.batches, tc.left)
		})
	}
}
