package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
)

type config struct {
	Telemetry telemetry.Config
	Sign      string `env:"SIGN" envDefault:"open" doc:"Whether it is open."`
}

type service struct{ sign string }

var errClosed = errors.New("the service failed")

func (s *service) Run(context.Context) error {
	if s.sign != "open" {
		return errClosed
	}
	return nil
}

func TestAProgramServesMigratesAndRunsItsTasks(t *testing.T) {
	var migrated bool
	var ahead []string
	program := daemon.Program[config, *service]{
		Name:      "example",
		Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
		New: func(_ context.Context, cfg config, _ *telemetry.Telemetry) (*service, error) {
			return &service{sign: cfg.Sign}, nil
		},
		Migrate: func(_ context.Context, _ config, out io.Writer) error {
			migrated = true
			_, err := io.WriteString(out, "example: from version 0 to 2\n")
			return err
		},
		Compare: func(context.Context, config) (postgres.Difference, error) {
			if migrated {
				return postgres.Difference{Ahead: ahead}, nil
			}
			return postgres.Difference{Pending: []string{"example/00001_first.sql", "example/00002_second.sql"}}, nil
		},
	}
	var out bytes.Buffer
	for _, refused := range [][]string{{"example", "serve"}, {"example", "migrate", "--check"}} {
		out.Reset()
		require.Equal(t, 1, daemon.RunProgram(refused, &out, program))
		require.Contains(t, out.String(), "example/00001_first.sql, example/00002_second.sql")
		require.False(t, migrated)
	}
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "migrate", "--now"}, &out, program))
	require.False(t, migrated)
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "migrate"}, &out, program))
	require.True(t, migrated)
	require.Contains(t, out.String(), "example: from version 0 to 2\n")
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "migrate", "--check"}, &out, program))
	t.Setenv("GIFTING_SING", "closed")
	out.Reset()
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "serve"}, &out, program), out.String())
	require.Contains(t, out.String(), "GIFTING_SING", "a mistyped variable is reported")
	require.NotContains(t, out.String(), "ahead")
	ahead = []string{"example/3"}
	for _, command := range [][]string{{"example", "serve"}, {"example", "migrate", "--check"}} {
		out.Reset()
		require.Equal(t, 0, daemon.RunProgram(command, &out, program), out.String())
		require.Equal(t, 1, strings.Count(out.String(), "the database is ahead")+strings.Count(out.String(), "The database is ahead"))
		require.Contains(t, out.String(), "example/3")
	}

	program.Tasks = []daemon.Task[config]{{
		Name: "sweep", Short: "delete what is old",
		Run: func(_ context.Context, cfg config, progress io.Writer) error {
			_, err := fmt.Fprintln(progress, "swept while", cfg.Sign)
			return err
		},
	}}
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "sweep"}, &out, program))
	require.Contains(t, out.String(), "swept while open")
	require.Equal(t, 2, daemon.RunProgram([]string{"example", "sweep", "--hard"}, &out, program), "it takes no arguments")

	var given []string
	program.Tasks = []daemon.Task[config]{{
		Name: "mop", Short: "clean what is named",
		RunWith: func(_ context.Context, cfg config, args []string, _ io.Writer) error {
			given = append(args, cfg.Sign)
			return nil
		},
	}}
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "mop", "--floor", "2"}, &out, program))
	require.Equal(t, []string{"--floor", "2", "open"}, given)

	t.Setenv("GIFTING_SIGN", "closed")
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "serve"}, &out, program))
	require.Contains(t, out.String(), errClosed.Error())

	program.Migrate = nil
	require.Equal(t, 2, daemon.RunProgram([]string{"example", "migrate"}, &out, program), "nothing to migrate, no such command")
	require.Contains(t, out.String(), "Whether it is open.")
}

func TestReadyAsksTheServingProcess(t *testing.T) {
	program := daemon.Program[config, *service]{
		Name: "example", Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
	}
	answer := http.StatusServiceUnavailable
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) })
	server := httptest.NewServer(mux)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	t.Setenv("GIFTING_METRICS_ADDR", ":"+port)

	var out bytes.Buffer
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "ready"}, &out, program))
	require.Contains(t, out.String(), "not ready: 503")
	answer = http.StatusOK
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "ready"}, &out, program))
	server.Close()
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "ready"}, &out, program))
}

func TestEveryProgramHasTheCommandVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Equal(t, 0, daemon.Main([]string{"example", "version"}, &out, &config{}))
	require.Equal(t, "(devel)\n", out.String())
}
