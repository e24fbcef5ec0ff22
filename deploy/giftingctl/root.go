package giftingctl

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// ErrTerminal and OutTerminal report that Err and Out are terminals. Progress is shown on Err only if it is one.
	ErrTerminal, OutTerminal bool
}

// app is one run of the program.
type app struct {
	Streams

	// The flags of every command.
	config, context, tenant, output string
	timeout                         time.Duration
	dryRun                          bool
}

// groups are the commands that are not rows of the table of calls. A group in a file of its own adds its function here.
func (a *app) groups() []*cobra.Command {
	return []*cobra.Command{
		a.contextCommand(),
		a.bootstrapCommand(),
		a.checkCommand(),
		a.statusCommand(),
		a.catalogCommand(),
	}
}

// Run runs the program with its arguments and returns the exit code: 0, or 1 if the platform refused the call, is not well or
// something else failed, 2 if the command or its context is wrong, 3 if a service could not be reached, 130 if the context ended.
func Run(ctx context.Context, args []string, std Streams) int {
	std.In = terminal.Input{Context: ctx, From: std.In}
	a := &app{Streams: std}
	if err := terminal.Run(ctx, a.root(), args); err != nil {
		return a.report(ctx, err)
	}
	return 0
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "giftingctl",
		Short: "Operate Partner Gifting: tenants, keys, the catalog, orders, links and webhooks",
		Long: `giftingctl calls the operations planes of Partner Gifting.

A context says where the services are and who calls them: giftingctl context --help.

The exit code is 0, or

  1    the platform refused the call or is not well (status), or something else failed
  2    the command or its context is wrong; nothing was sent
  3    a service could not be reached: repeat the same command. If it makes something, add the id that the error names, so that
       nothing is made twice. A script gives one from the start, such as --order-id of orders place, or the argument ID of
       tenants put. After keys create look at keys list first: each call makes a key
  130  you stopped it with Ctrl-C`,
		Version: telemetry.Version(),
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.StringVar(&a.config, "config", DefaultPath(), "the file of contexts; also GIFTINGCTL_CONFIG")
	flags.StringVar(&a.context, "context", "", "the context to use, instead of the current one")
	flags.StringVar(&a.tenant, "tenant", "", "id of the tenant, instead of that of the context")
	terminal.OutputFlag(root, &a.output)
	flags.DurationVar(&a.timeout, "timeout", 15*time.Second, "how long a call may take")
	terminal.Must(root.RegisterFlagCompletionFunc("context", a.completeContexts))
	for _, group := range a.groups() {
		root.AddCommand(group)
	}
	for _, c := range calls {
		a.addCall(root, c)
	}
	return root
}

// addCall adds the command of a call, with the groups that its words name.
func (a *app) addCall(root *cobra.Command, c call) {
	words := strings.Fields(c.use)
	parent := root
	for i, word := range words[:len(words)-1] {
		parent = groupOf(parent, word, strings.Join(words[:i+1], " "))
	}
	parent.AddCommand(a.command(c, words[len(words)-1]))
}

// groupOf returns the child of the command with the name, and adds it if it is missing.
func groupOf(parent *cobra.Command, name, path string) *cobra.Command {
	for _, child := range parent.Commands() {
		if child.Name() == name {
			return child
		}
	}
	group := &cobra.Command{Use: name, Short: about[path]}
	parent.AddCommand(group)
	return group
}
