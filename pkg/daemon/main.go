package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Command is a sub-command of a service's binary.
type Command struct {
	Name  string
	Short string
	Run   func(ctx context.Context) error
	// Arguments: the command takes arguments after its name.
	Arguments bool
}

// Main runs the sub-command that the arguments name and returns the exit code. cfg is a pointer to the configuration the
// process reads; its variables make up the help text. SIGINT and SIGTERM end the context; a second signal ends the process
// immediately.
func Main(args []string, stderr io.Writer, cfg any, commands ...Command) int {
	const usageError = 2
	commands = append(commands, Command{Name: "version", Short: "print the version", Run: func(context.Context) error {
		_, err := fmt.Fprintln(stderr, telemetry.Version())
		return err
	}})
	i := -1
	if len(args) >= 2 {
		i = slices.IndexFunc(commands, func(c Command) bool { return c.Name == args[1] && (c.Arguments || len(args) == 2) })
	}
	if i < 0 {
		_, _ = fmt.Fprint(stderr, usage(args[0], cfg, commands))
		return usageError
	}
	TuneGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := commands[i].Run(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "%s %s: %v\n", args[0], commands[i].Name, err)
	if coded, ok := errors.AsType[ExitCoder](err); ok {
		return coded.ExitCode()
	}
	return 1
}

// ExitCoder is an error that ends the process with its own exit code, so that a script can tell it from a failure.
type ExitCoder interface {
	error
	ExitCode() int
}

func usage(name string, cfg any, commands []Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s COMMAND\n\ncommands:\n", name)
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-12s %s\n", c.Name, c.Short)
	}
	variables, err := settings.Describe(cfg)
	if err != nil {
		return b.String()
	}
	return b.String() + "\nenvironment:\n" + variables
}
