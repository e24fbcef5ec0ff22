package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestAPartThatFailsStopsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	err := daemon.Run(t.Context(), slog.New(slog.DiscardHandler),
		daemon.Part{Name: "waits", Run: untilDone},
		daemon.Part{Name: "fails", Run: func(context.Context) error { return broken }})
	require.ErrorIs(t, err, broken)
}

func TestAPartThatEndsEarlyIsAFault(t *testing.T) {
	err := daemon.Run(t.Context(), slog.New(slog.DiscardHandler),
		daemon.Part{Name: "waits", Run: untilDone},
		daemon.Part{Name: "leaves", Run: func(context.Context) error { return nil }})
	require.ErrorContains(t, err, "leaves")
}

func TestTheEndOfTheContextIsNoFault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, daemon.Run(ctx, slog.New(slog.DiscardHandler), daemon.Part{Name: "waits", Run: untilDone}))
}

func TestMainRunsTheNamedCommand(t *testing.T) {
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
