// Package cli has the commands of the program.
package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/profile"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// Streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	// Secret reads a line of the terminal without showing it. Terminal reports that In is one.
	Secret   func() ([]byte, error)
	Terminal bool
	// Transport of calls, the usual one if it is nil.
	Transport http.RoundTripper
}

// app is one run of the program.
type app struct {
	Streams

	// The flags of every command.
	config, profile, output string
	timeout                 time.Duration
	// repeatable means that the command has --idempotency-key. running means that its arguments and flags are accepted.
	repeatable, running bool
	// wordsBeforeHelp is the error of --help after words that are not a command.
	wordsBeforeHelp error
}

// The forms of -o.
const (
	asTable = "table"
	asJSON  = "json"
)

// commands are those of the program. A group in a file of its own adds its function here.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.loginCommand(),
		a.logoutCommand(),
		a.profilesCommand(),
		a.listenCommand(),
		a.triggerCommand(),
		a.eventsCommand(),
		a.webhooksCommand(),
		a.verifyCommand(),
		a.ordersCommand(),
		a.linksCommand(),
		a.campaignsCommand(),
		a.catalogCommand(),
		a.syncCommand(),
		a.doctorCommand(),
		a.rawGetCommand(),
		a.rawPostCommand(),
		a.mcpCommand(),
	}
}

// Run runs the program with its arguments and returns the exit code.
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
		Use:   "gifting",
		Short: "Build and test an integration with the Partner Gifting API",
		Long: `gifting calls the Partner Gifting API with your key. Log in once, or set GIFTING_URL and GIFTING_KEY:

  gifting login --url https://sandbox.example.com/api/public/v1
  gifting listen --forward-to localhost:3000/webhooks     receive your own webhooks, without a tunnel
  gifting trigger order.completed                         cause a real event in the sandbox
  gifting doctor                                          find out what is wrong

The exit code is 0, or

  1    the API refused the call, or something else failed
  2    the command or its profile is wrong; nothing was sent
  3    no answer, or none for now (429, 5xx): repeat the same command, with the --idempotency-key that the error names
  4    there is no such record
  5    the key is not accepted, or lacks a scope
  6    a check did not pass: verify, doctor, orders validate, webhooks test
  130  you stopped it with Ctrl-C`,
		Version: version(), SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkOutput() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	path := a.Getenv("GIFTING_CONFIG")
	if path == "" {
		path = profile.DefaultPath()
	}
	flags.StringVar(&a.config, "config", path, "the file of profiles; also GIFTING_CONFIG")
	flags.StringVar(&a.profile, "profile", "", "the profile to use, instead of GIFTING_URL and GIFTING_KEY or the current one")
	flags.StringVarP(&a.output, "output", "o", asTable, "table or json")
	flags.DurationVar(&a.timeout, "timeout", gifting.DefaultTotalTimeout, "how long a call may take, with its retries")
	must(root.RegisterFlagCompletionFunc("profile", a.completeProfiles))
	must(root.RegisterFlagCompletionFunc("output", completions(asTable, asJSON)))
	root.AddCommand(a.commands()...)
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

// target is what a command calls: a name for people, an address and a key.
type target struct{ name, url, key string }

// fromEnvironment is the name of the target that GIFTING_URL and GIFTING_KEY set.
const fromEnvironment = "GIFTING_KEY"

func (a *app) target() (target, error) {
	if key := a.Getenv("GIFTING_KEY"); key != "" && a.profile == "" {
		return target{fromEnvironment, a.Getenv("GIFTING_URL"), key}, nil
	}
	file, err := profile.Read(a.config)
	if err != nil {
		return target{}, asUsageError(err)
	}
	name, found, err := file.Named(a.profile)
	if err != nil {
		return target{}, asUsageError(err)
	}
	key, err := file.KeyOf(name)
	if err != nil {
		return target{}, asUsageError(err)
	}
	return target{name, found.URL, key}, nil
}

// client makes a client for the chosen key.
func (a *app) client() (*gifting.Client, error) {
	to, err := a.target()
	if err != nil {
		return nil, err
	}
	return a.dial(to)
}

func (a *app) dial(to target) (*gifting.Client, error) {
	options := []gifting.Option{
		gifting.WithUserAgent("gifting/" + version()), gifting.WithTotalTimeout(a.timeout),
		gifting.WithWarnings(func(message string) { a.note("Warning: " + message) }),
	}
	if a.Transport != nil {
		options = append(options, gifting.WithTransport(a.Transport))
	}
	client, err := gifting.New(to.url, to.key, options...)
	if err != nil {
		return nil, asUsageError(err)
	}
	return client, nil
}

// stamped is set only by the linker.
var stamped string

// version of the program.
func version() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
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
