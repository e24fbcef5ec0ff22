//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// weakened are the conditions of statements on which isolation and exactly-once effects depend, and what takes their place: text
// that is valid with the same parameters and always holds.
var weakened = []struct {
	kind    string
	pattern *regexp.Regexp
	new     string
}{
	{"tenant", regexp.MustCompile(`(?:\b\w+\.)?tenant_id = (?:\$\d+(?:::\w+)?|p_tenant_id|\w+\.tenant_id)`), "($0 OR true)"},
	{
		"lease",
		regexp.MustCompile(`(?:\b\w+\.)?\w*lease_(?:until|token) (?:[<>=]+|IS NOT DISTINCT FROM|IS NOT|IS) (?:NULL|now\(\)|[\w.$]+)`),
		"($0 OR true)",
	},
	{"lease", regexp.MustCompile(`(?:\b\w+\.)?leased_by = (?:\$\d+|\w+\.\w+)`), "($0 OR true)"},
	{"dedupe", regexp.MustCompile(`ON CONFLICT (?:\([^)]*\) )?DO NOTHING`), ""},
	{"dedupe", regexp.MustCompile("(NOT EXISTS \\(\\s*SELECT [^`()]*? WHERE )"), "${1}false AND "},
	{"dedupe", regexp.MustCompile(`(?:\b\w+\.)?fingerprint = (?:ANY \(\w+\)|\$\d+|excluded\.fingerprint)`), "($0 OR true)"},
	{"version", regexp.MustCompile(`(?:\b\w+\.)?version (?:<|<=|>|=) (?:\$\d+|\w+\.version)`), "($0 OR true)"},
}

// survives are lines whose weakened conditions no test can notice, by file and text, with the reason.
var survives = map[[2]string]string{
	{
		"services/webhook/internal/store/log.go",
		"(SELECT d.key_id FROM deliveries d WHERE d.state = 'PENDING' AND d.tenant_id = $2 ORDER BY d.key_id LIMIT 1)",
	}: "the search then begins at a lower key of another tenant, which is left out because nothing of it is the tenant's",
	{
		"services/catalog/internal/store/offerings.go",
		"SELECT $1, $2, $3, $4, $5, coalesce(max(position) + 1, 0) FROM offerings WHERE tenant_id = $1 AND campaign_id = $2",
	}: "the next position only has to be above all others of the campaign",
	{
		"services/catalog/internal/store/offerings.go",
		"lockSKUsOf = `SELECT id FROM skus WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3 ORDER BY id FOR UPDATE`",
	}: "it only locks, and the ids of campaigns are those of one tenant",
	{
		"services/webhook/internal/store/erase.go",
		"WHERE tenant_id = $1 AND event_id = ANY($2::uuid[])",
	}: "it only locks, and the ids of events are those of one tenant",
	{
		"services/webhook/internal/store/erase.go",
		"AND (lease_token IS NULL OR next_attempt_at <= coalesce($3::timestamptz, now()))",
	}: "it only locks less, so that the results of attempts are recorded without a wait",
}

// statement is a file with one condition weakened.
type statement struct{ file, kind, condition, line, text, source string }

// TestTheConditionsOfStatementsAreTested weakens one condition of the stores' SQL at a time. The tests of the service must fail. It
// stops after GIFTING_TEST_SECONDS; the seed decides the order, and GIFTING_TEST_MODULE chooses a service.
func TestTheConditionsOfStatementsAreTested(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(setting(t, secondsVariable, 300))*time.Second)
	defer cancel()
	all := statements(t, os.Getenv("GIFTING_TEST_MODULE"))
	seed := setting(t, seedVariable, 0)
	rand.New(rand.NewPCG(uint64(seed), 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	tried, found := 0, 0
	for _, s := range all {
		caught, output := s.test(ctx, t)
		if ctx.Err() != nil {
			break
		}
		if notValid.MatchString(output) {
			t.Errorf("%s: the result is no valid statement: %s\n%s", s.line, s.condition, output)
		}
		tried++
		if caught {
			found++
			t.Logf("%s: %s: a test failed", s.line, s.condition)
			continue
		}
		if reason := survives[[2]string{s.file, s.text}]; reason != "" {
			t.Logf("%s: %s: survives, %s", s.line, s.condition, reason)
			found++
			continue
		}
		t.Errorf("%s: no test needs this %s condition: %s", s.line, s.kind, s.condition)
	}
	t.Logf("seed %d: %d of %d conditions tried, %d of them are tested", seed, tried, len(all), found)
}

// notValid are the errors of a statement that does not parse or has other types, and of code that does not compile.
var notValid = regexp.MustCompile(`SQLSTATE (42601|42P18|42804|42883)|\[build failed\]`)

// keyword begins a part of a statement.
var keyword = regexp.MustCompile(`\b(?:SET|SELECT|WHERE|ON|AND|OR|WHEN|CASE|VALUES|FROM)\b`)

func statements(t *testing.T, module string) (all []statement) {
	t.Helper()
	for _, pattern := range []string{
		"services/*/internal/store/*.go", "services/*/internal/store/migrations/*.sql", "pkg/idempotency/*.go",
		"pkg/idempotency/migrations/*.sql",
	} {
		files, err := filepath.Glob(filepath.Join(root(t), pattern))
		require.NoError(t, err)
		for _, path := range files {
			file, err := filepath.Rel(root(t), path)
			require.NoError(t, err)
			if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, module) {
				continue
			}
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			all = append(all, weaken(file, string(raw))...)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func weaken(file, source string) (all []statement) {
	for _, w := range weakened {
		for _, at := range w.pattern.FindAllStringSubmatchIndex(source, -1) {
			start := strings.LastIndexByte(source[:at[0]], '\n') + 1
			if before := strings.TrimSpace(source[start:at[0]]); strings.HasPrefix(before, "//") || strings.HasPrefix(before, "--") {
				continue
			}
			if words := keyword.FindAllString(source[:at[0]], -1); len(words) > 0 && words[len(words)-1] == "SET" {
				continue // It is an assignment.
			}
			text, _, _ := strings.Cut(source[start:], "\n")
			changed := string(w.pattern.ExpandString([]byte(source[:at[0]]), w.new, source, at)) + source[at[1]:]
			all = append(all, statement{
				file: file, kind: w.kind, condition: source[at[0]:at[1]], text: strings.TrimSpace(text), source: changed,
				line: fmt.Sprintf("%s:%d", file, 1+strings.Count(source[:at[0]], "\n")),
			})
		}
	}
	return all
}

// test runs the tests nearest to the statement first, and the rest of the module only if they pass.
func (s statement) test(ctx context.Context, t *testing.T) (caught bool, output string) {
	t.Helper()
	list := writeOverlay(t, map[string]string{s.file: s.source})
	module := strings.Join(strings.Split(s.file, "/")[:2], "/")
	for _, packages := range []string{module + "/internal/store", module + "/internal/server", module + "/..."} {
		if _, err := os.Stat(filepath.Join(root(t), packages)); err != nil && !strings.HasSuffix(packages, "/...") {
			continue // It is in pkg.
		}
		command := exec.CommandContext(ctx, "go", "test", "-failfast", "-vet=off", "-timeout", "5m", "-overlay", list, "./"+packages)
		command.Dir = root(t)
		if raw, err := command.CombinedOutput(); err != nil {
			return true, string(raw)
		}
	}
	return false, ""
}

// leastEfficacy is the least share of changes to rules, in percent, that tests must notice. Some changes change nothing.
const leastEfficacy = "75"

// TestTheRulesAreTested lets gremlins change one operator of the rules at a time. It shares GIFTING_TEST_SECONDS among the
// services; GIFTING_TEST_MODULE chooses one. Rules that only tests of other packages run are not changed.
func TestTheRulesAreTested(t *testing.T) {
	seconds := setting(t, secondsVariable, 300)
	var modules []string
	rules, err := filepath.Glob(filepath.Join(root(t), "services/*/internal/rules"))
	require.NoError(t, err)
	for _, dir := range rules {
		if module := filepath.Dir(filepath.Dir(dir)); strings.HasSuffix(module, os.Getenv("GIFTING_TEST_MODULE")) {
			modules = append(modules, module)
		}
	}
	// Gremlins copies a module to TMPDIR/gremlins-*/wd-*, where its go.mod looks for the others two levels up.
	dir := t.TempDir()
	for _, name := range []string{"pkg", "proto"} {
		require.NoError(t, os.Symlink(filepath.Join(root(t), name), filepath.Join(dir, name)))
	}
	for _, module := range modules {
		t.Run(filepath.Base(module), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second/time.Duration(len(modules)))
			defer cancel()
			// One worker: a test that waits for a processor would count as one that noticed the change.
			command := exec.CommandContext(ctx, filepath.Join(root(t), ".local/bin/gremlins"), "unleash", "./internal/rules",
				"--workers", "1", "--timeout-coefficient", "20", "--threshold-efficacy", leastEfficacy, "--output-statuses", "lt")
			command.Dir, command.Env = module, append(os.Environ(), "GOWORK=off", "TMPDIR="+dir)
			// It has then named what lived, but reports no efficacy.
			command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(os.Interrupt) }, time.Minute
			output, err := command.CombinedOutput()
			t.Logf("%s", output)
			if ctx.Err() == nil {
				require.NoError(t, err)
				require.Contains(t, string(output), "Killed:")
			}
		})
	}
}
