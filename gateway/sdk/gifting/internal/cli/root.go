// Package cli has the commands of the program.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/profile"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
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
	// repeatable means that the command has --idempotency-key.
	repeatable bool
	// repeatWith are flags that make the same request again, where those of the command would make another one.
	repeatWith string
}

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
	std.In = terminal.Input{Context: ctx, From: std.In}
	a := &app{Streams: std}
	if err := terminal.Run(ctx, a.root(), args); err != nil {
		return a.report(ctx, err)
	}
	return 0
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
		Version: version(),
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
	terminal.OutputFlag(root, &a.output)
	flags.DurationVar(&a.timeout, "timeout", gifting.DefaultTotalTimeout, "how long a call may take, with its retries")
	terminal.Must(root.RegisterFlagCompletionFunc("profile", a.completeProfiles))
	root.AddCommand(a.commands()...)
	return root
}

// target is what a command calls: a name for people, an address and a key.
type target struct{ name, url, key string }

// fromEnvironment is the name of the target that GIFTING_URL and GIFTING_KEY set.
const fromEnvironment = "GIFTING_KEY"

var errOnlyURL = errors.New("GIFTING_URL is set without GIFTING_KEY, and is not the address of the current profile")

// target is that of the environment or of a profile. GIFTING_URL alone never means the current profile of another address: the key
// may have been lost, and the profile be of production. After a login with GIFTING_URL it is the address of the profile.
func (a *app) target() (target, error) {
	address := a.Getenv("GIFTING_URL")
	if key := a.Getenv("GIFTING_KEY"); key != "" && a.profile == "" {
		return target{fromEnvironment, address, key}, nil
	}
	file, err := profile.Read(a.config)
	if err != nil {
		return target{}, terminal.AsUsageError(err)
	}
	name, found, err := file.Named(a.profile)
	if err != nil {
		return target{}, terminal.AsUsageError(err)
	}
	if a.profile == "" && address != "" && strings.TrimRight(address, "/") != strings.TrimRight(found.URL, "/") {
		return target{}, terminal.AsUsageError(fmt.Errorf("%w %s: set both, or choose a profile with --profile", errOnlyURL, name))
	}
	key, err := file.KeyOf(name)
	if err != nil {
		return target{}, terminal.AsUsageError(err)
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
		return nil, terminal.AsUsageError(err)
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
