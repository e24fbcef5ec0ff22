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
	"github.com/partnergifting/platform/pkg/settings"
)

var (
	setting = regexp.MustCompile(`\bGIFTING_[A-Z_]+`)
	call    = regexp.MustCompile(`as_orders (\S+) '(\{.*?\})'`)

	shellVariable = regexp.MustCompile(`'\$[A-Z_]+'`)
)

// pages are the runbooks of alerts and procedures.
func pages(t *testing.T) (found []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "procedures/*.md"} {
		paths, err := fs.Glob(os.DirFS(runbooks), pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		found = append(found, paths...)
	}
	return slices.DeleteFunc(found, func(path string) bool { return path == "README.md" })
}

func eachRunbook(t *testing.T, do func(t *testing.T, text string)) {
	t.Helper()
	for _, path := range pages(t) {
		text, err := os.ReadFile(filepath.Join(runbooks, path))
		require.NoError(t, err)
		t.Run(path, func(t *testing.T) { do(t, string(text)) })
	}
}

func TestLinksOfRunbooksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, path := range append(pages(t), "README.md") {
		text, err := os.ReadFile(filepath.Join(runbooks, path))
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(runbooks, filepath.Dir(path), link[1]))
			require.NoError(t, err, path)
		}
	}
}

func TestQueriesOfRunbooksUseKnownMetrics(t *testing.T) {
	t.Parallel()
	names := alerts.KnownNames(rules(t))
	eachRunbook(t, func(t *testing.T, text string) {
		queries := alerts.Blocks(text, "promql")
		require.True(t, len(queries) > 0 || !strings.HasPrefix(text, "# Gifting"), "the runbook of an alert needs a query for its diagnosis")
		for _, query := range queries {
			require.NoError(t, names.Check(query))
		}
	})
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
		for _, line := range alerts.Blocks(text, "log") {
			if !strings.Contains(code, `"`+line+`"`) { // require.Contains would print all of the code.
				t.Errorf("no code logs %q", line)
			}
		}
		for _, name := range setting.FindAllString(text, -1) {
			require.Regexp(t, `env:"`+strings.TrimPrefix(name, settings.Prefix)+`[",]`, code)
		}
	})
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
