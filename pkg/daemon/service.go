package daemon

import (
	"context"
	"io"
	"os"

	"go.opentelemetry.io/otel"

	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Door is what a service shows of itself: a configuration, and what makes and migrates it.
type Door[C any, S interface {
	Run(ctx context.Context) error
}] struct {
	// Name stands in logs, spans and metrics.
	Name string
	// Telemetry picks its part of the configuration.
	Telemetry func(cfg C) telemetry.Config
	New       func(ctx context.Context, cfg C, tel *telemetry.Telemetry) (S, error)
	// Migrate nil: the service keeps nothing.
	Migrate func(ctx context.Context, cfg C) error
	// Pending lists the migrations that have not run. It is there when Migrate is.
	Pending func(ctx context.Context, cfg C) ([]string, error)
	// Tasks are the commands the service has beside those two.
	Tasks []Task[C]
	// Commands are further ones, which the service's configuration does not concern.
	Commands []Command
}

// Task is a command that does its work and ends.
type Task[C any] struct {
	Name  string
	Short string
	// Run tells its progress on out.
	Run func(ctx context.Context, cfg C, out io.Writer) error
}

// Service is the program of a service: the commands serve and migrate and the service's tasks,
// configured by the environment, logging to stderr. It gives the exit code.
func Service[C any, S interface {
	Run(ctx context.Context) error
}](args []string, stderr io.Writer, door Door[C, S]) int {
	var cfg C
	commands := []Command{{Name: "serve", Short: "serve until told to stop", Run: func(ctx context.Context) error {
		return door.serve(ctx, &cfg, stderr)
	}}, {Name: "ready", Short: "ask the one that serves here whether it is ready", Run: func(ctx context.Context) error {
		return door.ready(ctx, &cfg)
	}}}
	if door.Migrate != nil {
		commands = append(commands, Command{
			Name: "migrate", Short: "bring the database up to date; with " + checkFlag + " only say whether it is", Arguments: true,
			Run: func(ctx context.Context) error { return door.migrate(ctx, &cfg, args[2:], stderr) },
		})
	}
	for _, task := range door.Tasks {
		commands = append(commands, Command{Name: task.Name, Short: task.Short, Run: func(ctx context.Context) error {
			if err := settings.Load(&cfg); err != nil {
				return err
			}
			return task.Run(ctx, cfg, stderr)
		}})
	}
	return Main(args, stderr, &cfg, append(commands, door.Commands...)...)
}

func (d Door[C, S]) serve(ctx context.Context, cfg *C, stderr io.Writer) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	if err := d.upToDate(ctx, *cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, d.Name, d.Telemetry(*cfg), stderr)
	if err != nil {
		return err
	}
	defer tel.Close(ctx)
	otel.SetErrorHandler(tel) // The process is this service's.
	if unknown := settings.Unknown(cfg, os.Environ()); len(unknown) > 0 {
		tel.Logger.WarnContext(ctx, "the environment has variables that this program does not know", "variables", unknown)
	}
	service, err := d.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
