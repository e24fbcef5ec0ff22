//go:build faults

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

var (
	// shellBlock is a block of commands. In a list it is indented.
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// redriveQuery is the statement of a runbook that shows from when to redrive.
	redriveQuery = regexp.MustCompile("(?s)```sql\n *-- events\n([^`]* AS redrive_from\n.*?)```")
	// instant is a time in a command of a runbook. The first of a command is replaced by the time from which the drill reads again,
	// the second by now.
	instant = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// missingChanges are what redrive of events and of webhook print.
	missingChanges = regexp.MustCompile(`(?m)^(?:all +\d+ +|missing: +)(\d+)`)
)

// differencesLeft is the exit code of reconcile if there are differences.
const differencesLeft = 3

// ran is a command of a runbook with its output.
type ran struct{ command, output string }

// missing is how many changes a redrive has found to be missing.
func (r ran) missing(t *testing.T) int {
	t.Helper()
	found := missingChanges.FindStringSubmatch(r.output)
	require.NotNil(t, found, "%s prints no number of missing changes:\n%s", r.command, r.output)
	missing, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return missing
}

// follow runs the commands of a runbook's section that begin with one of the texts, in the order of the page, each of which the
// section must have.
func (d *drill) follow(ctx context.Context, t *testing.T, page, section string, beginnings ...string) (all []ran) {
	t.Helper()
	used := map[string]bool{}
	for _, block := range shellBlock.FindAllStringSubmatch(sectionOf(t, page, section), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			at := slices.IndexFunc(beginnings, func(b string) bool { return line == b || strings.HasPrefix(line, b+" ") })
			if at >= 0 {
				used[beginnings[at]] = true
				all = append(all, d.runCommand(ctx, t, line))
			}
		}
	}
	for _, beginning := range beginnings {
		require.True(t, used[beginning], "%s of the runbook %s has no command %q", section, page, beginning)
	}
	return all
}

func sectionOf(t *testing.T, page, section string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "runbooks", page+".md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(content), "\n## "+section+"\n")
	require.True(t, found, "the runbook %s has no section %q", page, section)
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// redriveFrom returns the time from which a feed is to be redriven that was set back after a time, by the statement of a runbook.
func (d *drill) redriveFrom(ctx context.Context, t *testing.T, page, section string, setBack time.Time) (from time.Time) {
	t.Helper()
	found := redriveQuery.FindStringSubmatch(sectionOf(t, page, section))
	require.NotNil(t, found, "%s of the runbook %s does not say from when to redrive", section, page)
	withConn(ctx, t, d.urlOf(t, "events"), func(conn *pgx.Conn) {
		rows, err := conn.Query(ctx, found[1])
		require.NoError(t, err)
		var (
			number int
			began  time.Time
			reason string
			shown  *time.Time
		)
		_, err = pgx.ForEachRow(rows, []any{&number, &began, &reason, &shown}, func() error {
			if began.After(setBack) && shown != nil {
				from = *shown // The newest epoch comes first.
			}
			return nil
		})
		require.NoError(t, err)
	})
	require.False(t, from.IsZero(), "no epoch has begun")
	return from
}

// runCommand runs a line of a runbook. program runs a command of a program in the environment of its instances.
func (d *drill) runCommand(ctx context.Context, t *testing.T, line string) ran {
	t.Helper()
	times := []time.Time{d.readFrom.Truncate(time.Second), time.Now().Add(time.Second)}
	line = instant.ReplaceAllStringFunc(line, func(string) string {
		next := times[0]
		times = times[1:]
		return next.UTC().Format(time.RFC3339)
	})
	words := strings.Fields(line)
	require.Greater(t, len(words), 2, line)
	require.Equal(t, "program", words[0], line)
	i := d.of(identity.Name(words[1]))[0]
	command := exec.CommandContext(ctx, i.path, words[2:]...)
	command.Env = i.env
	var output, log bytes.Buffer
	command.Stdout, command.Stderr = &output, &log
	err := command.Run()
	d.printf("$ %s\n%s%s", line, output.String(), log.String())
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != differencesLeft {
		require.NoError(t, err, "%s", log.String())
	}
	return ran{line, output.String()}
}
