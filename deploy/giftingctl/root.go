package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	// running means that the arguments and flags of the command are accepted.
	running bool
	// wordsBeforeHelp is the error of --help after words that are not a command.
	wordsBeforeHelp error
}

// The forms of -o.
const (
	asTable = "table"
	asJSON  = "json"
)

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
	std.In = interruptible{ctx, std.In}
	a := &app{Streams: std}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if a.wordsBeforeHelp != nil {
		err = a.wordsBeforeHelp
	}
	switch {
	case err == nil:
		return 0
	case !a.running:
		err = asUsageError(err)
	}
	return a.report(ctx, err)
}

// trackRunning makes the command, and those below it, set running when they begin. An error before that is one of the command line.
func (a *app) trackRunning(c *cobra.Command) {
	if !c.Runnable() { // It only has others.
		c.Args, c.RunE = cobra.ArbitraryArgs, requireSub
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.running = true
			return run(c, args)
		}
	}
	for _, below := range c.Commands() {
		a.trackRunning(below)
	}
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
		Version: telemetry.Version(), SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkOutput() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.StringVar(&a.config, "config", DefaultPath(), "the file of contexts; also GIFTINGCTL_CONFIG")
	flags.StringVar(&a.context, "context", "", "the context to use, instead of the current one")
	flags.StringVar(&a.tenant, "tenant", "", "id of the tenant, instead of that of the context")
	flags.StringVarP(&a.output, "output", "o", asTable, "table or json")
	flags.DurationVar(&a.timeout, "timeout", 15*time.Second, "how long a call may take")
	must(root.RegisterFlagCompletionFunc("context", a.completeContexts))
	must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{asTable, asJSON},
		cobra.ShellCompDirectiveNoFileComp)))
	for _, group := range a.groups() {
		root.AddCommand(group)
	}
	for _, c := range calls {
		a.addCall(root, c)
	}
	root.InitDefaultCompletionCmd() // Otherwise this and help are added after trackRunning.
	root.InitDefaultHelpCmd()
	root.SetHelpFunc(a.helpOf(root.HelpFunc()))
	help, _, _ := root.Find([]string{"help"})
	help.Run, help.RunE = nil, showHelp
	a.trackRunning(root)
	return root
}

// helpOf shows help, unless --help comes after words that are not a command. Cobra does not let help fail.
func (a *app) helpOf(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); len(words) > 0 && c.HasSubCommands() {
			a.wordsBeforeHelp = requireSub(c, words)
			return
		}
		show(c, args)
	}
}

var errOutput = errors.New("-o is table or json")

func (a *app) checkOutput() error {
	if !slices.Contains([]string{asTable, asJSON}, a.output) {
		return asUsageError(errOutput)
	}
	return nil
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

var errSubcommand = errors.New("unknown command")

// requireSub refuses words that are not a command of the group. Without words it shows the commands of the group.
func requireSub(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	c.SuggestionsMinimumDistance = 2
	advice := c.CommandPath() + " --help lists the commands"
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		advice = "did you mean " + strings.Join(like, " or ") + "?"
	}
	return asUsageError(fmt.Errorf("%w: %s %s: %s", errSubcommand, c.CommandPath(), args[0], advice))
}

// showHelp shows the help of a command, or refuses words that are none.
func showHelp(c *cobra.Command, args []string) error {
	found, rest, _ := c.Root().Find(args)
	if len(rest) > 0 && found.HasSubCommands() {
		return requireSub(found, rest)
	}
	found.InitDefaultHelpFlag()
	return found.Help()
}

// must is for errors that only a wrong name of a flag causes, which every test would show.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// interruptible is a reader of a terminal or pipe whose Read returns when the context ends. What is read after that is lost.
type interruptible struct {
	ctx  context.Context // The standard input lives as long as the command.
	from io.Reader
}

// Read implements io.Reader.
func (i interruptible) Read(p []byte) (int, error) {
	type result struct {
		read []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		buffer := make([]byte, len(p))
		n, err := i.from.Read(buffer)
		done <- result{buffer[:n], err}
	}()
	select {
	case r := <-done:
		return copy(p, r.read), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
