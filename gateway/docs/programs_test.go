package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestEveryPageIsMarkdownToo(t *testing.T) {
	t.Parallel()
	list := read(t, "/docs/llms.txt")
	for _, path := range pages(t) {
		markdown := strings.TrimPrefix(path, base) + ".md"
		if path == base+"/docs" {
			markdown = "/docs/index.md"
		}
		text := read(t, markdown)
		require.True(t, strings.HasPrefix(text, "# "), markdown)
		require.NotContains(t, text, " {#", "the id of a heading")
		require.NotContains(t, text, "api.example.com")
		require.Contains(t, list, "]("+publicURL+markdown+"): ", "llms.txt")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(list, -1) {
		read(t, strings.TrimPrefix(m[1], publicURL))
	}
}

func TestTheSearchFindsSectionsAndOperations(t *testing.T) {
	t.Parallel()
	var index []struct{ Title, Page, Href, Text string }
	require.NoError(t, json.Unmarshal([]byte(read(t, "/docs/search.json")), &index))
	found := map[string]string{}
	for _, entry := range index {
		require.NotEmpty(t, entry.Title)
		path, _, _ := strings.Cut(entry.Href, "#")
		require.Equal(t, http.StatusOK, call(t, http.MethodGet, path, nil).Code, entry.Href)
		found[entry.Href] = entry.Text
	}
	require.Contains(t, found[base+"/docs/webhooks#rotate"], "overlapSeconds")
	require.Contains(t, found[base+"/docs/webhooks#verify"], "Java C# Ruby")
	require.NotContains(t, found[base+"/docs/webhooks#verify"], "secure_compare", "the code of other languages than the first")
	require.Contains(t, found[base+"/docs/reference#placeOrder"], "POST /orders ")
	require.Contains(t, found[base+"/docs/errors/out_of_stock"], "out_of_stock")
	require.NotContains(t, found, base+"/docs/errors#out_of_stock")
}

// The budgets of a page with all that it loads, compressed: of the reference, and of all others.
const (
	referenceBudget = 100_000
	budget          = 60_000
)

func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	loaded := regexp.MustCompile(`(?:src|<link rel="(?:icon|stylesheet|modulepreload)" href|data-index)="([^"]*)"`)
	for _, path := range pages(t) {
		html := call(t, http.MethodGet, path, nil).Body.Bytes()
		size := compressed(t, html)
		for _, m := range loaded.FindAllSubmatch(html, -1) {
			w := call(t, http.MethodGet, string(m[1]), http.Header{"Accept-Encoding": {"gzip"}})
			require.Equal(t, http.StatusOK, w.Code, string(m[1]))
			size += w.Body.Len()
		}
		allowed := budget
		if path == base+"/docs/reference" {
			allowed = referenceBudget
		}
		require.Less(t, size, allowed, path)
		t.Logf("%s: %d bytes", path, size)
	}
}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Len()
}

// The reader sets the address and the key. All else is taken from the responses to earlier requests.
func TestThePostmanCollectionHasEveryOperation(t *testing.T) {
	t.Parallel()
	var collection struct {
		Info     struct{ Schema string }
		Variable []struct{ Key string }
		Item     []struct {
			Item []struct {
				Event   json.RawMessage
				Request json.RawMessage
			}
		}
	}
	written := read(t, "/docs/postman.json")
	require.NoError(t, json.Unmarshal([]byte(written), &collection))
	require.Equal(t, "https://schema.getpostman.com/json/collection/v2.1.0/collection.json", collection.Info.Schema)
	require.Len(t, collection.Variable, 2)
	known := map[string]bool{collection.Variable[0].Key: true, collection.Variable[1].Key: true}
	var requests []string
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			var r struct {
				Method string
				Header []struct{ Key, Value string }
				URL    struct{ Raw string }
			}
			require.NoError(t, json.Unmarshal(item.Request, &r))
			requests = append(requests, r.Method+" "+strings.NewReplacer("{{baseUrl}}", "", "{{", "{", "}}", "}").Replace(r.URL.Raw))
			for _, header := range r.Header {
				require.Equal(t, header.Key == "Idempotency-Key", header.Value == "{{$guid}}", "%s %s", r.URL.Raw, header.Key)
			}
			for _, used := range regexp.MustCompile(`\{\{([^}$]*)\}\}`).FindAllSubmatch(item.Request, -1) {
				require.True(t, known[string(used[1])], "%s: no request before it sets %s", r.URL.Raw, used[1])
			}
			for _, set := range regexp.MustCompile(`collectionVariables\.set\(\\"(\w+)`).FindAllSubmatch(item.Event, -1) {
				known[string(set[1])] = true
			}
		}
	}
	var want []string
	for path, item := range shown(t)["paths"].(object) {
		for method := range item.(object) {
			if method != "parameters" {
				want = append(want, strings.ToUpper(method)+" "+path)
			}
		}
	}
	require.ElementsMatch(t, want, requests)
}

func TestTheMessagesOfTheAsyncAPIDocumentFitTheirSchemas(t *testing.T) {
	t.Parallel()
	var document object
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "/docs/asyncapi.yaml")), &document))
	asJSON, err := json.Marshal(document)
	require.NoError(t, err)
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("asyncapi.json", root))
	hooks := shown(t)["webhooks"].(object)
	messages := document["components"].(object)["messages"].(object)
	require.Len(t, messages, len(hooks))
	for name := range hooks {
		schema, err := compiler.Compile("asyncapi.json#/components/messages/" + name + "/payload")
		require.NoError(t, err)
		examples := messages[name].(object)["examples"].([]any)
		require.NotEmpty(t, examples)
		for _, example := range examples {
			content, err := json.Marshal(example.(object)["payload"])
			require.NoError(t, err)
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(value), name)
		}
		require.Contains(t, messages[name].(object)["headers"].(object)["properties"], "Service-Signature")
	}
}
