package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

type shopConfig struct {
	Telemetry telemetry.Config
	Sign      string `env:"SIGN" envDefault:"open" doc:"What hangs in the program."`
}

type shop struct{ sign string }

var errClosed = errors.New("the shop is closed")

func (s *shop) Run(context.Context) error {
	if s.sign != "open" {
		return errClosed
	}
	return nil
}

func TestServiceRunsADoor(t *testing.T) {
	var migrated bool
	program := daemon.Program[shopConfig, *shop]{
		Name:      "shop",
		Telemetry: func(cfg shopConfig) telemetry.Config { return cfg.Telemetry },
		New: func(_ context.Context, cfg shopConfig, _ *telemetry.Telemetry) (*shop, error) {
			return &shop{sign: cfg.Sign}, nil
		},
		Migrate: func(context.Context, shopConfig) error { migrated = true; return nil },
		Pending: func(context.Context, shopConfig) ([]string, error) {
			if migrated {
				return nil, nil
			}
			return []string{"shop/00001_doors.sql", "shop/00002_windows.sql"}, nil
		},
	}
	var out bytes.Buffer
	for _, refused := range [][]string{{"shop", "serve"}, {"shop", "migrate", "--check"}} {
		out.Reset()
		require.Equal(t, 1, daemon.RunProgram(refused, &out, program))
		require.Contains(t, out.String(), "shop/00001_doors.sql, shop/00002_windows.sql")
		require.False(t, migrated)
	}
	require.Equal(t, 1, daemon.RunProgram([]string{"shop", "migrate", "--now"}, &out, program))
	require.False(t, migrated)
	require.Equal(t, 0, daemon.RunProgram([]string{"shop", "migrate"}, &out, program))
	require.True(t, migrated)
	require.Equal(t, 0, daemon.RunProgram([]string{"shop", "migrate", "--check"}, &out, program))
	t.Setenv("GIFTING_SING", "closed")
	out.Reset()
	require.Equal(t, 0, daemon.RunProgram([]string{"shop", "serve"}, &out, program), out.String())
	require.Contains(t, out.String(), "GIFTING_SING", "a mistyped variable is told")

	program.Tasks = []daemon.Task[shopConfig]{{
		Name: "sweep", Short: "sweep the floor",
		Run: func(_ context.Context, cfg shopConfig, progress io.Writer) error {
			_, err := fmt.Fprintln(progress, "swept while", cfg.Sign)
			return err
		},
	}}
	require.Equal(t, 0, daemon.RunProgram([]string{"shop", "sweep"}, &out, program))
	require.Contains(t, out.String(), "swept while open")

	t.Setenv("GIFTING_SIGN", "closed")
	require.Equal(t, 1, daemon.RunProgram([]string{"shop", "serve"}, &out, program))
	require.Contains(t, out.String(), errClosed.Error())

	program.Migrate = nil
	require.Equal(t, 2, daemon.RunProgram([]string{"shop", "migrate"}, &out, program), "nothing to migrate, no such command")
	require.Contains(t, out.String(), "What hangs in the program.")
}
