package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Program holds what the main function of a service needs: its configuration, construction and migration.
type Program[C any, S interface {
	Run(ctx context.Context) error
}] struct {
	// Name is the service's name in logs, spans and metrics.
	Name string
	// Telemetry picks its part of the configuration.
	Telemetry func(cfg C) telemetry.Config
	New       func(ctx context.Context, cfg C, tel *telemetry.Telemetry) (S, error)
	// Migrate is nil if the service has no database. It writes what it does to out.
	Migrate func(ctx context.Context, cfg C, out io.Writer) error
	// Compare compares the database with the migrations of this version. It is set if Migrate is.
	Compare func(ctx context.Context, cfg C) (postgres.Difference, error)
	// Tasks are further commands that need the service's configuration.
	Tasks []Task[C]
	// Commands are further commands that do not need it.
	Commands []Command
}

// Task is a command that does its work and ends.
type Task[C any] struct {
	Name  string
	Short string
	// Run writes its progress to out.
	Run func(ctx context.Context, cfg C, out io.Writer) error
	// RunWith is set instead of Run if the task takes arguments. It writes its result to out, the standard output.
	RunWith func(ctx context.Context, cfg C, args []string, out io.Writer) error
}

// RunProgram runs the command that the arguments name: serve, migrate, ready or one of the tasks,
// configured by the environment, logging to stderr. It returns the exit code.
func RunProgram[C any, S interface {
	Run(ctx context.Context) error
}](args []string, stderr io.Writer, program Program[C, S]) int {
	var cfg C
	commands := []Command{{Name: "serve", Short: "serve until a signal", Run: func(ctx context.Context) error {
		return program.serve(ctx, &cfg, stderr)
	}}, {Name: "ready", Short: "check whether the program that serves on this machine is ready", Run: func(ctx context.Context) error {
		return program.ready(ctx, &cfg)
	}}}
	if program.Migrate != nil {
		commands = append(commands, Command{
			Name: "migrate", Short: "bring the database up to date; with " + checkFlag + " only say whether it is", Arguments: true,
			Run: func(ctx context.Context) error { return program.migrate(ctx, &cfg, args[2:], stderr) },
		})
	}
	for _, task := range program.Tasks {
		commands = append(commands, Command{
			Name: task.Name, Short: task.Short, Arguments: task.RunWith != nil,
			Run: func(ctx context.Context) error {
				if err := settings.Load(&cfg); err != nil {
					return err
				}
				if task.RunWith != nil {
					return task.RunWith(ctx, cfg, args[2:], os.Stdout)
				}
				return task.Run(ctx, cfg, stderr)
			},
		})
	}
	return Main(args, stderr, &cfg, append(commands, program.Commands...)...)
}

func (p Program[C, S]) serve(ctx context.Context, cfg *C, stderr io.Writer) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	ahead, err := p.upToDate(ctx, *cfg)
	if err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, p.Name, p.Telemetry(*cfg), stderr)
	if err != nil {
		return err
	}
	defer tel.Close(ctx)
	otel.SetErrorHandler(tel) // The process is this service's.
	if unknown := settings.Unknown(cfg, os.Environ()); len(unknown) > 0 {
		tel.Logger.WarnContext(ctx, "the environment has variables that this program does not know", "variables", unknown)
	}
	if p.Migrate != nil {
		if err := ReportAhead(ctx, tel, ahead); err != nil {
			return err
		}
	}
	service, err := p.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	// An idle program collects no garbage, so that of its start would stay: of a gateway, which renders its documentation, half of
	// its memory.
	debug.FreeOSMemory()
	return service.Run(ctx)
}

// readyTimeout bounds the request of the command ready.
const readyTimeout = 2 * time.Second

var errNotReady = errors.New("not ready")

// ready calls the metrics port of the serving program. The container has no other HTTP client.
func (p Program[C, S]) ready(ctx context.Context, cfg *C) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(p.Telemetry(*cfg).MetricsAddr)
	if err != nil {
		return fmt.Errorf("metrics port: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errNotReady, res.Status)
	}
	return nil
}

const checkFlag = "--check"

var (
	errBehind    = errors.New("the database is behind this version, `migrate` brings it up to date; pending")
	errArguments = errors.New("takes nothing but " + checkFlag)
)

// migrate brings the database up to date, or only checks it.
func (p Program[C, S]) migrate(ctx context.Context, cfg *C, args []string, out io.Writer) error {
	check := slices.Equal(args, []string{checkFlag})
	if len(args) > 0 && !check {
		return errArguments
	}
	if err := settings.Load(cfg); err != nil {
		return err
	}
	if !check {
		return p.Migrate(ctx, *cfg, out)
	}
	ahead, err := p.upToDate(ctx, *cfg)
	if err != nil {
		return err
	}
	if len(ahead) > 0 {
		_, err = fmt.Fprintf(out, "The database is ahead of this version by %s.\n", strings.Join(ahead, ", "))
		return err
	}
	_, err = fmt.Fprintln(out, "The database is up to date.")
	return err
}

// upToDate refuses a database that lacks a migration of this version: the code relies on all of them. A database that is ahead
// is fine: it is so during a rollout and after a rollback. What only a later version knows is returned.
func (p Program[C, S]) upToDate(ctx context.Context, cfg C) (ahead []string, err error) {
	if p.Migrate == nil {
		return nil, nil
	}
	difference, err := p.Compare(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if len(difference.Pending) > 0 {
		return nil, fmt.Errorf("%w: %s", errBehind, strings.Join(difference.Pending, ", "))
	}
	return difference.Ahead, nil
}

// ReportAhead reports migrations of the database that only a later version knows, as of the start of the program.
func ReportAhead(ctx context.Context, tel *telemetry.Telemetry, ahead []string) error {
	gauge, err := tel.Meters.Meter("github.com/partnergifting/platform/pkg/daemon").Int64Gauge("gifting.database.ahead",
		metric.WithDescription("Migrations of the database that this version did not know when it started."))
	if err != nil {
		return fmt.Errorf("metric of the schema: %w", err)
	}
	gauge.Record(ctx, int64(len(ahead)))
	if len(ahead) > 0 {
		tel.Logger.WarnContext(ctx, "the database is ahead of this version, as after a rollback", "migrations", ahead)
	}
	return nil
}
