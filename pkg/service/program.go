package service

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

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Program describes the program of a service, whose configuration is C.
type Program[C any] struct {
	// Name is the service's name in logs, spans and metrics.
	Name identity.Name
	// Telemetry and Database pick their part of the configuration. Database is nil for a service without one.
	Telemetry func(cfg C) telemetry.Config
	Database  func(cfg C) postgres.Config
	// Schema is the migrations of the database.
	Schema []postgres.Migrations
	New    func(ctx context.Context, cfg C, tel *telemetry.Telemetry) (*Service, error)
	// Tasks are further commands that need the service's configuration.
	Tasks []Task[C]
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

// Main runs the command that the arguments name: serve, migrate, ready or one of the tasks, configured by the environment,
// logging to stderr. It returns the exit code.
func (p Program[C]) Main(args []string, stderr io.Writer) int {
	var cfg C
	commands := []daemon.Command{{Name: "serve", Short: "serve until a signal", Run: func(ctx context.Context) error {
		return p.serve(ctx, &cfg, stderr)
	}}, {Name: "ready", Short: "check whether the program that serves on this machine is ready", Run: func(ctx context.Context) error {
		return p.ready(ctx, &cfg)
	}}}
	if p.Database != nil {
		commands = append(commands, daemon.Command{
			Name: "migrate", Short: "bring the database up to date; with " + checkFlag + " only say whether it is", Arguments: true,
			Run: func(ctx context.Context) error { return p.migrate(ctx, &cfg, args[2:], stderr) },
		})
	}
	for _, task := range p.Tasks {
		commands = append(commands, daemon.Command{
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
	return daemon.Main(args, stderr, &cfg, commands...)
}

func (p Program[C]) serve(ctx context.Context, cfg *C, stderr io.Writer) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, string(p.Name), p.Telemetry(*cfg), stderr)
	if err != nil {
		return err
	}
	defer tel.Close(ctx)
	otel.SetErrorHandler(tel) // The process is this service's.
	tel.RedirectStandardLogger()
	if unknown := settings.Unknown(cfg, os.Environ()); len(unknown) > 0 {
		tel.Logger.WarnContext(ctx, "the environment has variables that this program does not know", "variables", unknown)
	}
	service, err := p.Open(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	// An idle program collects no garbage, so the garbage of its start would stay. That is half of the memory of a gateway, which
	// renders its documentation at the start.
	debug.FreeOSMemory()
	return service.Run(ctx)
}

// Open builds the service if its database has all migrations of this version, on which the code relies. It reports those that only
// a later version knows: the database is ahead during a rollout and after a rollback.
func (p Program[C]) Open(ctx context.Context, cfg C, tel *telemetry.Telemetry) (*Service, error) {
	if p.Database == nil {
		return p.New(ctx, cfg, tel)
	}
	ahead, err := p.upToDate(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if len(ahead) > 0 {
		tel.Logger.WarnContext(ctx, "the database is ahead of this version, as after a rollback", "migrations", ahead)
	}
	return p.New(ctx, cfg, tel)
}

// Migrate brings the database up to date. It writes what it does to out.
func (p Program[C]) Migrate(ctx context.Context, cfg C, out io.Writer) error {
	return postgres.Migrate(ctx, p.Database(cfg), out, p.Schema...)
}

// readyTimeout bounds the request of the command ready.
const readyTimeout = 2 * time.Second

var errNotReady = errors.New("not ready")

// ready calls the metrics port of the serving program. The container has no other HTTP client.
func (p Program[C]) ready(ctx context.Context, cfg *C) error {
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

// migrate runs the command that brings the database up to date, or only checks it.
func (p Program[C]) migrate(ctx context.Context, cfg *C, args []string, out io.Writer) error {
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

// upToDate refuses a database that lacks a migration, and returns those of the database that only a later version knows.
func (p Program[C]) upToDate(ctx context.Context, cfg C) (ahead []string, err error) {
	difference, err := postgres.Compare(ctx, p.Database(cfg).URL, p.Schema...)
	if err != nil {
		return nil, err
	}
	if len(difference.Pending) > 0 {
		return nil, fmt.Errorf("%w: %s", errBehind, strings.Join(difference.Pending, ", "))
	}
	return difference.Ahead, nil
}
