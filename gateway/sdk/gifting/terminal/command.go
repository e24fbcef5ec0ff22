package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is an error in the command or in what it names. Nothing was sent.
type UsageError struct{ error }

// Unwrap returns the error.
func (e UsageError) Unwrap() error { return e.error }

// AsUsageError makes an error a UsageError.
func AsUsageError(err error) error { return UsageError{err} }

// run is one run of a program.
type run struct {
	// begun means that the arguments and flags of the command are accepted.
	begun bool
	// wordsBeforeHelp is the error of --help after words that are not a command.
	wordsBeforeHelp error
}

// Run runs the command that the arguments name. An error before it begins is a UsageError.
func Run(ctx context.Context, root *cobra.Command, args []string) error {
	r := &run{}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.InitDefaultCompletionCmd() // Otherwise this and help are added after track.
	root.InitDefaultHelpCmd()
	root.SetHelpFunc(r.helpOf(root.HelpFunc()))
	help, _, _ := root.Find([]string{"help"})
	help.Run, help.RunE = nil, showHelp
	r.track(root)
	err := root.ExecuteContext(ctx)
	if r.wordsBeforeHelp != nil {
		return r.wordsBeforeHelp
	}
	if err != nil && !r.begun {
		return AsUsageError(err)
	}
	return err
}

// track makes the command, and those below it, set begun.
func (r *run) track(c *cobra.Command) {
	if !c.Runnable() { // It only has others.
		c.Args, c.RunE = cobra.ArbitraryArgs, requireSub
	}
	if runE := c.RunE; runE != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, args); err != nil {
				return err
			}
			r.begun = true
			return runE(c, args)
		}
	}
	for _, below := range c.Commands() {
		r.track(below)
	}
}

// mayBeEmpty is the annotation of a flag that has a meaning when it is empty.
const mayBeEmpty = "may be empty"

// MayBeEmpty accepts an empty value of a flag of the command.
func MayBeEmpty(c *cobra.Command, flag string) {
	Must(c.Flags().SetAnnotation(flag, mayBeEmpty, nil))
}

var errEmpty = errors.New("is empty: is the variable set from which it comes?")

// refuseEmpty refuses arguments and flags that are given and empty. Most often a script has lost the value, and the command would
// do something else: use the current profile, begin at the end of the feed, or send a request without its contents.
func refuseEmpty(c *cobra.Command, args []string) (err error) {
	if slices.Contains(args, "") {
		err = fmt.Errorf("an argument %w", errEmpty)
	}
	c.Flags().Visit(func(flag *pflag.Flag) {
		if _, allowed := flag.Annotations[mayBeEmpty]; !allowed && isEmpty(flag.Value) {
			err = fmt.Errorf("--%s %w", flag.Name, errEmpty)
		}
	})
	return err
}

func isEmpty(value pflag.Value) bool {
	if list, ok := value.(pflag.SliceValue); ok {
		return len(list.GetSlice()) == 0
	}
	return value.Type() == "string" && value.String() == ""
}

// helpOf shows help, unless --help comes after words that are not a command. Cobra does not let help fail.
func (r *run) helpOf(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); len(words) > 0 && c.HasSubCommands() {
			r.wordsBeforeHelp = requireSub(c, words)
			return
		}
		show(c, args)
	}
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
	return AsUsageError(fmt.Errorf("%w: %s %s: %s", errSubcommand, c.CommandPath(), args[0], advice))
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

// The forms of -o.
const (
	AsTable = "table"
	AsJSON  = "json"
)

var errOutput = errors.New("-o is table or json")

// OutputFlag adds -o to a program.
func OutputFlag(root *cobra.Command, output *string) {
	forms := []string{AsTable, AsJSON}
	root.PersistentFlags().StringVarP(output, "output", "o", AsTable, "table or json")
	Must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp)))
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(forms, *output) {
			return AsUsageError(errOutput)
		}
		return nil
	}
}

// Must is for errors that only a wrong name of a flag causes, which every test would show.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// ByteOrderMark begins a text of some editors and shells.
const ByteOrderMark = "\ufeff"

var errUTF16 = errors.New("is UTF-16: save it as UTF-8")

// Text is the content of a file of text, without a byte order mark.
func Text(name string, content []byte) ([]byte, error) {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s %w", name, errUTF16)
	}
	return bytes.TrimPrefix(content, []byte(ByteOrderMark)), nil
}

// Input is a reader of a terminal or pipe whose Read returns when the context ends. What is read after that is lost.
type Input struct {
	Context context.Context // The standard input lives as long as the command.
	From    io.Reader
}

// Read implements io.Reader.
func (i Input) Read(p []byte) (int, error) {
	type result struct {
		read []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		buffer := make([]byte, len(p))
		n, err := i.From.Read(buffer)
		done <- result{buffer[:n], err}
	}()
	select {
	case r := <-done:
		return copy(p, r.read), r.err
	case <-i.Context.Done():
		return 0, i.Context.Err()
	}
}
