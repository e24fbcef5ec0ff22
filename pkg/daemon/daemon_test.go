package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
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
		daemon.Part{Name: "leaves", Run: func(context.Context) error { return nil }})
	require.ErrorContains(t, err, "leaves")
}

func TestTheMetricsPortSaysNotReadyUntilTheOtherPartsHaveEnded(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	tel, err := telemetry.New(t.Context(), "example", telemetry.Config{MetricsAddr: addr}, io.Discard)
	require.NoError(t, err)
	ready := func() int {
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
			daemon.Metrics(tel, func(context.Context) error { return ctx.Err() }))
	}()
	require.Eventually(t, func() bool { return ready() == http.StatusOK }, 5*time.Second, 5*time.Millisecond)
	cancel()
	require.Equal(t, http.StatusServiceUnavailable, ready())
	close(drained)
	require.NoError(t, <-ended)
	require.Zero(t, ready())
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
