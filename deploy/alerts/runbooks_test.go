package alerts_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/partnergifting/platform/deploy/alerts"
	_ "github.com/partnergifting/platform/deploy/local" // Registers the contracts of all services.
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/settings"
)

var (
	setting = regexp.MustCompile(`\bGIFTING_[A-Z_]+`)
	call    = regexp.MustCompile(`as_orders (\S+) '(\{.*?\})'`)

	shellVariable = regexp.MustCompile(`'\$[A-Z_]+'`)
)

// pages are the runbooks, without their index.
func pages(t *testing.T) []string {
	t.Helper()
	paths, err := fs.Glob(os.DirFS(runbooks), "*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return slices.DeleteFunc(paths, func(path string) bool { return path == "README.md" })
}

func eachRunbook(t *testing.T, do func(t *testing.T, text string)) {
	t.Helper()
	for _, path := range pages(t) {
		text, err := os.ReadFile(filepath.Join(runbooks, path))
		require.NoError(t, err)
		t.Run(path, func(t *testing.T) { do(t, string(text)) })
	}
}

// The links of all pages that lead to a runbook, and those of runbooks, lead to a page and a heading that exist.
func TestLinksOfRunbooksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^):]+)\)`)
	folder := filepath.Join(root, "deploy", "runbooks")
	checked := 0
	for _, from := range markdownPages(t) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			path, anchor, _ := strings.Cut(found[1], "#")
			to := from
			if path != "" {
				to = filepath.Join(filepath.Dir(from), path)
			}
			if filepath.Dir(from) != folder && filepath.Dir(to) != folder {
				continue
			}
			checked++
			require.FileExists(t, to, "%s: %s", from, found[1])
			if anchor != "" {
				require.Contains(t, anchors(t, to), anchor, "%s: %s", from, found[1])
			}
		}
	}
	require.NotZero(t, checked)
}

// A restored database has persons again who were erased, or no longer knows that they were.
func TestEachSectionAboutARestoredDatabaseLeadsToTheErasures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(runbooks, "restore.md"))
	require.NoError(t, err)
	sections := 0
	for section := range strings.SplitSeq(string(text), "\n## ") {
		if heading, _, _ := strings.Cut(section, "\n"); strings.HasSuffix(heading, "SetBack") {
			require.Contains(t, section, "(erase-a-person.md#after-a-restore)", heading)
			sections++
		}
	}
	require.Equal(t, 3, sections)
}

// markdownPages are the Markdown pages of the repository.
func markdownPages(t *testing.T) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && slices.Contains([]string{".git", ".local", "node_modules"}, entry.Name()) {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			found = append(found, path)
		}
		return err
	}))
	return found
}

// anchors are the headings of a page, as links name them.
func anchors(t *testing.T, page string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	punctuation := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		found = append(found, strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-"))
	}
	return found
}

func TestQueriesOfRunbooksUseKnownMetrics(t *testing.T) {
	t.Parallel()
	names := alerts.KnownNames(rules(t))
	eachRunbook(t, func(t *testing.T, text string) {
		for _, query := range alerts.BlockLines(text, "promql") {
			require.NoError(t, names.Check(query))
		}
	})
}

// An operator on Kubernetes, on one machine and on machines with systemd has each function.
func TestEachSetOfShellFunctionsHasThoseThatThePagesUse(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile(filepath.Join(runbooks, "README.md"))
	require.NoError(t, err)
	sets := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(index), -1)
	require.Len(t, sets, 3)
	var used []string
	eachRunbook(t, func(_ *testing.T, text string) {
		for _, found := range regexp.MustCompile("(?m)(?:^ *|`)([a-z_]+) ").FindAllStringSubmatch(text, -1) {
			used = append(used, found[1])
		}
	})
	definition := regexp.MustCompile(`(?m)^([a-z_]+)\(\)`)
	for _, name := range definition.FindAllStringSubmatch(sets[0][1], -1) {
		require.Contains(t, used, name[1], "no page uses it")
		for _, set := range sets {
			require.Contains(t, set[1], "\n"+name[0]+" ")
		}
	}
}

func TestCallsOfRunbooksExistWithTheirFields(t *testing.T) {
	t.Parallel()
	called := 0
	eachRunbook(t, func(t *testing.T, text string) {
		calls := call.FindAllStringSubmatch(text, -1)
		require.Len(t, calls, strings.Count(text, "as_orders "), "a call that the test cannot read")
		for _, found := range calls {
			descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(found[1], "/", ".")))
			require.NoError(t, err, found[1])
			method, ok := descriptor.(protoreflect.MethodDescriptor)
			require.True(t, ok, found[1])
			request := shellVariable.ReplaceAllString(found[2], "1")
			require.NoError(t, protojson.Unmarshal([]byte(request), dynamicpb.NewMessage(method.Input())), request)
			called++
		}
	})
	require.NotZero(t, called)
}

func TestLogLinesAndSettingsOfRunbooksExist(t *testing.T) {
	t.Parallel()
	code := source(t)
	eachRunbook(t, func(t *testing.T, text string) {
		for _, line := range alerts.BlockLines(text, "log") {
			if !strings.Contains(code, `"`+line+`"`) { // require.Contains would print all of the code.
				t.Errorf("no code logs %q", line)
			}
		}
		for _, name := range setting.FindAllString(text, -1) {
			require.Regexp(t, `env:"`+strings.TrimPrefix(name, settings.Prefix)+`[",]`, code)
		}
	})
}

// A program that is missing in the table would be left with the old secret.
func TestTheTableOfSecretsNamesEveryProgramThatUsesThem(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(runbooks, "rotate-secrets.md"))
	require.NoError(t, err)
	secrets := regexp.MustCompile("(?m)^\\| [^|]*`(GIFTING_[A-Z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, secrets)
	for _, secret := range secrets {
		for _, p := range programs.All() {
			if _, uses := p.Settings[secret[1]]; uses {
				require.Contains(t, secret[2], string(p.Name), secret[1])
			}
		}
	}
}

// source is the code of services, gateway and pkg, without tests.
func source(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	tree := os.DirFS("../..")
	for _, root := range []string{"pkg", "services", "gateway"} {
		require.NoError(t, fs.WalkDir(tree, root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, path)
			code.Write(text)
			return err
		}))
	}
	return code.String()
}
