package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
)

type config struct {
	Telemetry telemetry.Config
	Database  postgres.Config
	Sign      string `env:"SIGN" envDefault:"open" doc:"Whether it is open."`
}

var errClosed = errors.New("the service failed")

// stopProcess does what an operator does to a program that serves.
func stopProcess(ctx context.Context) error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// newExample builds a service that ends at once.
func newExample(ctx context.Context, cfg config, tel *telemetry.Telemetry) (*service.Service, error) {
	return service.New(ctx, service.Config{Telemetry: tel, NoServer: true}, func(s *service.Service) error {
		s.Add(daemon.Part{Name: "shop", Run: func(ctx context.Context) error {
			if cfg.Sign != "open" {
				return errClosed
			}
			return stopProcess(ctx)
		}})
		return nil
	})
}

// example is a program whose database has so many migrations.
func example(migrations int) service.Program[config] {
	files := fstest.MapFS{}
	for n := range migrations {
		files[fmt.Sprintf("%05d_step.sql", n+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\nSELECT 1;\n")}
	}
	return service.Program[config]{
		Name:      "example",
		Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg config) postgres.Config { return cfg.Database },
		Schema:    []postgres.Migrations{{Owner: "example", Files: files}},
		New:       newExample,
	}
}

func TestAProgramServesOnlyWithAllItsMigrations(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", pgtest.NewURL(t))
	var out bytes.Buffer
	program := example(2)
	for _, refused := range [][]string{{"example", "serve"}, {"example", "migrate", "--check"}, {"example", "migrate", "--now"}} {
		out.Reset()
		require.Equal(t, 1, program.Main(refused, &out))
		require.NotContains(t, out.String(), "from version")
	}
	require.Equal(t, 1, program.Main([]string{"example", "migrate", "--check"}, &out))
	require.Contains(t, out.String(), "example/00001_step.sql, example/00002_step.sql")
	require.Equal(t, 0, program.Main([]string{"example", "migrate"}, &out), out.String())
	require.Equal(t, 0, program.Main([]string{"example", "migrate", "--check"}, &out))
	t.Setenv("GIFTING_SING", "closed")
	out.Reset()
	require.Equal(t, 0, program.Main([]string{"example", "serve"}, &out), out.String())
	require.Contains(t, out.String(), "GIFTING_SING", "a mistyped variable is reported")
	require.NotContains(t, out.String(), "ahead")

	older := example(1)
	for _, command := range [][]string{{"example", "serve"}, {"example", "migrate", "--check"}} {
		out.Reset()
		require.Equal(t, 0, older.Main(command, &out), out.String())
		require.Equal(t, 1, strings.Count(strings.ToLower(out.String()), "the database is ahead"))
		require.Contains(t, out.String(), "example/2")
	}

	t.Setenv("GIFTING_SIGN", "closed")
	require.Equal(t, 1, program.Main([]string{"example", "serve"}, &out))
	require.Contains(t, out.String(), errClosed.Error())

	program.Database = nil
	require.Equal(t, 2, program.Main([]string{"example", "migrate"}, &out), "nothing to migrate, no such command")
	require.Contains(t, out.String(), "Whether it is open.")
}

func TestAProgramLogsWhatTheStandardLoggerIsGivenWithoutQuotations(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", "postgres://127.0.0.1:1/none")
	t.Cleanup(func() {
		log.SetOutput(os.Stderr)
		log.SetFlags(log.LstdFlags)
	})
	program, out := example(0), bytes.Buffer{}
	program.Database = nil
	program.New = func(ctx context.Context, _ config, tel *telemetry.Telemetry) (*service.Service, error) {
		return service.New(ctx, service.Config{Telemetry: tel, NoServer: true}, func(s *service.Service) error {
			s.Add(daemon.Part{Name: "shop", Run: func(ctx context.Context) error {
				log.Printf("a peer has sent %q", "a secret")
				return stopProcess(ctx)
			}})
			return nil
		})
	}
	require.Equal(t, 0, program.Main([]string{"example", "serve"}, &out), out.String())
	require.Contains(t, out.String(), `"service":"example","text":"a peer has sent"`)
	require.NotContains(t, out.String(), "a secret")
}

func TestAProgramRunsItsTasks(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", "postgres://127.0.0.1:1/none")
	program, out := example(0), bytes.Buffer{}
	program.Tasks = []service.Task[config]{{
		Name: "sweep", Short: "delete what is old",
		Run: func(_ context.Context, cfg config, progress io.Writer) error {
			_, err := fmt.Fprintln(progress, "swept while", cfg.Sign)
			return err
		},
	}}
	require.Equal(t, 0, program.Main([]string{"example", "sweep"}, &out))
	require.Contains(t, out.String(), "swept while open")
	require.Equal(t, 2, program.Main([]string{"example", "sweep", "--hard"}, &out), "it takes no arguments")

	var given []string
	program.Tasks = []service.Task[config]{{
		Name: "mop", Short: "clean what is named",
		RunWith: func(_ context.Context, cfg config, args []string, _ io.Writer) error {
			given = append(args, cfg.Sign)
			return nil
		},
	}}
	require.Equal(t, 0, program.Main([]string{"example", "mop", "--floor", "2"}, &out))
	require.Equal(t, []string{"--floor", "2", "open"}, given)
}

func TestReadyAsksTheServingProcess(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", "postgres://127.0.0.1:1/none")
	program := example(0)
	answer := http.StatusServiceUnavailable
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) })
	server := httptest.NewServer(mux)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	t.Setenv("GIFTING_METRICS_ADDR", ":"+port)

	var out bytes.Buffer
	require.Equal(t, 1, program.Main([]string{"example", "ready"}, &out))
	require.Contains(t, out.String(), "not ready: 503")
	answer = http.StatusOK
	require.Equal(t, 0, program.Main([]string{"example", "ready"}, &out))
	server.Close()
	require.Equal(t, 1, program.Main([]string{"example", "ready"}, &out))
}

func TestEveryProgramHasTheCommandVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Equal(t, 0, daemon.Main([]string{"example", "version"}, &out, &config{}))
	require.Equal(t, "(devel)\n", out.String())
}
