package docs

import (
	"io/fs"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

func TestRegionsOfFilesAreSamples(t *testing.T) {
	t.Parallel()
	found, err := readSamples(fstest.MapFS{
		"go/orders.go":     {Data: []byte("func f() {\n\t// sample: placeOrder\n\torder()\n\tif ok {\n\t\tprint()\n\t}\n\t// end\n}\n")},
		"python/orders.py": {Data: []byte("# sample: placeOrder\norder()\n\n# end\n# sample: getOrder\nread()\n# end\n")},
		"go/README.md":     {Data: []byte("// sample: getOrder\nno\n// end\n")},
		"README.md":        {Data: []byte("// sample: getOrder\nno\n// end\n")},
	})
	require.NoError(t, err)
	require.Equal(t, map[string][]sample{
		"placeOrder": {{"python", "Python", "order()"}, {"go", "Go", "order()\nif ok {\n\tprint()\n}"}},
		"getOrder":   {{"python", "Python", "read()"}},
	}, found)
	_, err = readSamples(fstest.MapFS{"go/a.go": {Data: []byte("// sample: x\n1\n// end\n// sample: x\n2\n// end\n")}})
	require.ErrorContains(t, err, "another sample of x")
}

// markedSamples are the names of the samples that guides ask for, with the guide.
func markedSamples(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(guides, "guides/*.md")
	require.NoError(t, err)
	marked := map[string]string{}
	for _, file := range files {
		raw, err := guides.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`<!-- samples: (.*) -->`).FindAllStringSubmatch(string(raw), -1) {
			marked[m[1]] = file
		}
		require.NotContains(t, (&builder{}).addSamples(string(raw)), "<!-- samples: ", file)
	}
	return marked
}

func TestMarkedCommandsOfGuidesHaveSamplesInEveryLanguage(t *testing.T) {
	t.Parallel()
	all, err := ownSamples()
	require.NoError(t, err)
	b := &builder{samples: all}
	added := b.addSamples("a\n\n<!-- samples: getMe -->\n```sh\nb\n```\n\n```text\nc\n```\n")
	require.Regexp(t, "(?s)^a\n\n```sh\nb\n```\n\n```typescript\n.*```\n\n```python\n.*```\n\n```go\n.*```\n\n```text\nc", added)
	marked := markedSamples(t)
	require.NotEmpty(t, marked)
	for name, file := range marked {
		require.Len(t, all[name], len(languages), "%s: %s", file, name)
	}
	document, err := openapi.New(exampleURL, apikey.Sandbox, nil)
	require.NoError(t, err)
	for _, op := range operationsOf(document.Root) {
		delete(all, op.ID())
	}
	for name := range all {
		require.Contains(t, marked, name, "a sample of no operation, which no guide shows")
	}
}

func TestBodiesAreQuotedForTheShell(t *testing.T) {
	t.Parallel()
	require.Equal(t, `'{"reason":"No"}'`, inShell(`{"reason": "No"}`))
	require.Equal(t, "@- <<'JSON'\n"+`{"reason": "It's"}`+"\nJSON", inShell(`{"reason": "It's"}`))
	require.Equal(t, "@- <<JSON\n"+`{"skuId": "$SKU_ID"}`+"\nJSON", inShell(`{"skuId": "0196a3c2-7a2b-7c3d-8e4f-5a6b7c8d9e0f"}`))
}
