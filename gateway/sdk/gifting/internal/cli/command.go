package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errArguments = errors.New("the arguments are")
	errJSON      = errors.New("is not JSON")
	errTime      = errors.New("is no time such as 2026-03-16T07:00:00Z, and no age such as 2h")
	errOtherPage = errors.New("takes a time with --after, the same for all pages: an age is another time in each command")
)

// group is a command that only has others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short}
	g.AddCommand(commands...)
	return g
}

// command makes a command that calls the API. The words of use in capitals are its arguments.
func (a *app) command(
	use, short string, run func(ctx context.Context, client *gifting.Client, args []string) error,
) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: arguments, RunE: func(c *cobra.Command, args []string) error {
		client, err := a.client()
		if err != nil {
			return err
		}
		return run(c.Context(), client, args)
	}}
}

// arguments compares the arguments with the words in capitals of the command's use. The last may be left out if it is in brackets.
func arguments(c *cobra.Command, args []string) error {
	_, words, _ := strings.Cut(c.Use, " ")
	most := len(strings.Fields(words))
	least := most - strings.Count(words, "[")
	if least <= len(args) && len(args) <= most {
		return nil
	}
	return terminal.AsUsageError(fmt.Errorf("%w %s", errArguments, c.Use))
}

// completions completes a flag or argument with the choices.
func completions(choices ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)
}

// print prints a record.
func (a *app) print(record any) error {
	if a.output == terminal.AsJSON {
		return terminal.JSON(a.Out, record)
	}
	return terminal.Record(a.Out, record)
}

// show prints the answer of a call.
func (a *app) show(record any, err error) error {
	if err != nil {
		return err
	}
	return a.print(record)
}

// column of a table.
type column[T any] struct {
	name string
	text func(T) string
}

// listOutput is a list as JSON, in the form of the API.
type listOutput[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// paging are the flags of a list.
type paging struct {
	gifting.Paging

	all       bool
	since     timeOrAge
	sinceFlag string // Empty if the list has no such flag.
}

func (p *paging) flags(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&p.After, "after", "", "the cursor of the page to begin with")
	c.Flags().IntVar(&p.Limit, "limit", 0, "items of a page, 1 to 100 (default 50)")
	c.Flags().BoolVar(&p.all, "all", false, "all pages, not only one")
	return c
}

// sinceFlags are those of a list that can be filtered by time.
func (p *paging) sinceFlags(c *cobra.Command, name, usage string) *cobra.Command {
	p.sinceFlag = name
	c.Flags().Var(&p.since, name, usage)
	return p.flags(c)
}

// printPages prints one page of a list, or all from it on.
func printPages[T any](a *app, p *paging, columns []column[T], list gifting.List[T]) error {
	if p.since.age && p.After != "" {
		return terminal.AsUsageError(fmt.Errorf("--%s %w", p.sinceFlag, errOtherPage))
	}
	items, next := []T{}, ""
	for page, err := range list.Pages() {
		if err != nil {
			return err
		}
		items, next = append(items, page.Items...), page.NextCursor
		if !p.all {
			break
		}
	}
	if a.output == terminal.AsJSON {
		result := listOutput[T]{Items: items}
		if next != "" {
			result.NextCursor = &next
		}
		return terminal.JSON(a.Out, result)
	}
	if err := printTable(a, columns, items); err != nil {
		return err
	}
	if next != "" {
		a.note("There are more: " + p.nextFlags(next) + ", or --all")
	}
	return nil
}

// nextFlags show the next page. A cursor is bound to the time of the filter, so they name the time that an age meant.
func (p *paging) nextFlags(next string) string {
	flags := "--after " + next
	if p.since.age {
		flags = "--" + p.sinceFlag + " " + p.since.UTC().Format(time.RFC3339Nano) + " " + flags
	}
	return flags
}

func printTable[T any](a *app, columns []column[T], items []T) error {
	names, rows := make([]string, len(columns)), make([][]string, len(items))
	for i, c := range columns {
		names[i] = c.name
		for row, item := range items {
			rows[row] = append(rows[row], c.text(item))
		}
	}
	return terminal.Table(a.Out, names, rows)
}

// readJSON reads a file of JSON; - is the standard input.
func (a *app) readJSON(path string) (json.RawMessage, error) {
	content, err := a.readText(path)
	if err != nil {
		return nil, err
	}
	return parseJSON(path, content)
}

// parseJSON reads a text as JSON. The error has the name of the text, and the place where it is not JSON.
func parseJSON(name string, content []byte) (json.RawMessage, error) {
	var read json.RawMessage
	err := json.Unmarshal(content, &read)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := content[:max(syntax.Offset-1, 0)]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		err = fmt.Errorf("%s %w: line %d, column %d: %w", name, errJSON, bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(line)+1,
			syntax)
	}
	if err != nil {
		return nil, terminal.AsUsageError(err)
	}
	return read, nil
}

// readText reads a file of text.
func (a *app) readText(path string) ([]byte, error) {
	content, err := a.readFile(path)
	if err == nil {
		content, err = terminal.Text(path, content)
	}
	if err != nil {
		return nil, terminal.AsUsageError(err)
	}
	return content, nil
}

// maxFile is more than any request or webhook has.
const maxFile = 16 << 20

func (a *app) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(a.In, maxFile))
	}
	return os.ReadFile(path) //nolint:gosec // The user names the file.
}

// idempotent is the flag of a command whose effect must not happen twice.
type idempotent struct{ key string }

// idempotencyFlag adds --idempotency-key to a command.
func (a *app) idempotencyFlag(c *cobra.Command, i *idempotent) *cobra.Command {
	c.PreRun = func(*cobra.Command, []string) { a.repeatable = true }
	c.Flags().StringVar(&i.key, "idempotency-key", "", "repeat a command whose answer was lost; without it a new key is made")
	return c
}

func (i *idempotent) options() []gifting.CallOption {
	if i.key == "" {
		return nil
	}
	return []gifting.CallOption{gifting.WithIdempotencyKey(i.key)}
}

// timeOrAge is a flag: a time, or an age such as 2h.
type timeOrAge struct {
	time.Time

	age bool // It was given as an age, so it is another time at the next run.
}

// Set implements pflag.Value.
func (m *timeOrAge) Set(text string) error {
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		m.Time, m.age = time.Now().Add(-age), true
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("%s %w", text, errTime)
	}
	m.Time, m.age = at, false
	return nil
}

// String implements pflag.Value.
func (m *timeOrAge) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (*timeOrAge) Type() string { return "time" }

// text is the value of an optional member.
func text[T ~string](value *T) string {
	if value == nil {
		return ""
	}
	return string(*value)
}

// optional is an optional member of a request.
func optional(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }
