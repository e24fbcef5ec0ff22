package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// rowsOf are the cells of the tables in the sections of the page that shows the SDKs side by side.
func rowsOf(t *testing.T, sections ...string) (rows [][]string) {
	t.Helper()
	raw, err := guides.ReadFile("guides/operations.md")
	require.NoError(t, err)
	for _, section := range strings.Split(string(raw), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		if !slices.ContainsFunc(sections, func(name string) bool { return strings.HasPrefix(title, name) }) {
			continue
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") {
				rows = append(rows, strings.Split(strings.Trim(line, "|\n"), "|"))
			}
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// names are what the cells of a column quote.
func names(rows [][]string, column int) (found []string) {
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(row[column], -1) {
			name, _, _ := strings.Cut(m[1], "(") // field("limit") is a function.
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// The columns of the SDKs, in the order of languages.
const (
	typescriptColumn = iota + 1
	pythonColumn
	goColumn
)

// The samples of an operation run, and call what the page names.
func TestTheSDKsHaveTheOperationsOfTheirPage(t *testing.T) {
	t.Parallel()
	document, err := openapi.New(exampleURL, apikey.Sandbox, nil)
	require.NoError(t, err)
	all, err := ownSamples()
	require.NoError(t, err)
	rows := rowsOf(t, "Calls ")
	var shown, want []string
	for _, row := range rows {
		m := quoted.FindStringSubmatch(row[0])
		if m == nil {
			continue // The head of a table.
		}
		shown = append(shown, m[1])
		require.Contains(t, row[0], "(reference.md#"+m[1]+")")
		for i, l := range languages {
			at := slices.IndexFunc(all[m[1]], func(s sample) bool { return s.Label == l.Label })
			require.GreaterOrEqual(t, at, 0, "%s has no sample of %s", l.Label, m[1])
			require.Contains(t, all[m[1]][at].Source, "client."+quoted.FindStringSubmatch(row[i+1])[1]+"(")
		}
		same := strings.ToLower(strings.Join(names([][]string{row}, typescriptColumn), ""))
		for column := pythonColumn; column <= goColumn; column++ {
			require.Equal(t, same, strings.ToLower(strings.ReplaceAll(names([][]string{row}, column)[0], "_", "")))
		}
	}
	for _, op := range operationsOf(document.Root) {
		want = append(want, op.ID())
	}
	require.ElementsMatch(t, want, shown)
}

// declared are the names that a pattern finds in files of the SDKs, between two lines if these are given.
func declared(t *testing.T, pattern, from, to string, files ...string) (found []string) {
	t.Helper()
	for _, file := range files {
		paths, err := filepath.Glob(filepath.Join("../sdk", file))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			text := string(raw)
			if from != "" {
				_, text, _ = strings.Cut(text, from)
				text, _, _ = strings.Cut(text, to)
			}
			for _, m := range regexp.MustCompile("(?m)"+pattern).FindAllStringSubmatch(text, -1) {
				found = append(found, m[1])
			}
		}
	}
	require.NotEmpty(t, found)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestTheSDKsHaveTheOptionsOfTheirPage(t *testing.T) {
	t.Parallel()
	ofClient, ofCall := rowsOf(t, "Options of a client"), rowsOf(t, "Options of a call")
	member := `^  (\w+)\??:`
	require.Equal(t, declared(t, member, "interface ClientOptions", "\n}", "typescript/src/transport.ts"),
		names(ofClient, typescriptColumn))
	require.Subset(t, declared(t, `^        (\w+): `, "class AsyncClient", "-> None", "python/src/partnergifting/_async/client.py"),
		slices.DeleteFunc(names(ofClient, pythonColumn), func(name string) bool { return name == "warnings" }))
	// Times and attempts are options of a client too.
	both := append(names(ofClient, typescriptColumn), names(ofCall, typescriptColumn)...)
	require.Subset(t, both, declared(t, member, "interface CallOptions", "/** What a response", "typescript/src/transport.ts"))
	both = append(names(ofClient, pythonColumn), names(ofCall, pythonColumn)...)
	require.Subset(t, both, declared(t, `^    (\w+): `, "class FeedOptions", "AnyOptions", "python/src/partnergifting/_options.py"))
	withs := slices.DeleteFunc(append(names(ofClient, goColumn), names(ofCall, goColumn)...), func(name string) bool {
		return !strings.HasPrefix(name, "With")
	})
	require.ElementsMatch(t, declared(t, `^func (With\w+)\(`, "", "", "go/client.go", "go/call.go"), withs)
}

func TestTheSDKsHaveTheErrorsOfTheirPage(t *testing.T) {
	t.Parallel()
	rows := rowsOf(t, "Errors")
	shown := func(column int) []string {
		return slices.DeleteFunc(names(rows, column), func(name string) bool { return strings.Contains(name, ".") || name == "error" })
	}
	require.Subset(t, shown(typescriptColumn), declared(t, `^export (?:class|function) (\w+)`, "", "", "typescript/src/errors.ts"))
	require.Subset(t, declared(t, `(?:^export (?:class|function)|^  readonly|^ ) (\w+)`, "", "", "typescript/src/errors.ts"),
		shown(typescriptColumn))
	// CallError is what ApiError and NoAnswerError have in common.
	classes := declared(t, `^(?:class|def) ([A-Za-z]\w+)`, "", "", "python/src/partnergifting/errors.py")
	require.Subset(t, append(shown(pythonColumn), "CallError"), classes)
	require.Subset(t, declared(t, `(?:^class|def|self\.) ?(\w+)`, "", "", "python/src/partnergifting/errors.py"), shown(pythonColumn))
	files := []string{"go/problem.go", "go/call.go", "go/feed.go", "go/webhook.go"}
	require.Subset(t, declared(t, `^(?:type |func (?:\(\w+ \*\w+\) )?|var |\t)(\w+)`, "", "", files...), shown(goColumn))
}
