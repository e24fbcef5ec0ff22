package docs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
)

type object = map[string]any

func TestTheRendererIsThatOfThePackage(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	pinned := regexp.MustCompile(`SCALAR_VERSION := (\S+)\nSCALAR_SHA256  := (\S+)`).FindSubmatch(makefile)
	require.Len(t, pinned, 3)
	script := regexp.MustCompile(`<script src="([^"]*scalar[^"]*)"`).FindStringSubmatch(read(t, tryPath))
	require.Len(t, script, 2)
	w := call(t, http.MethodGet, script[1], nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "public, max-age=31536000, immutable", w.Header().Get("Cache-Control"))
	sum := sha256.Sum256(w.Body.Bytes())
	require.Equal(t, string(pinned[2]), hex.EncodeToString(sum[:]))
	require.Contains(t, script[1], "scalar-"+string(pinned[1])+".js")

	compressed := call(t, http.MethodGet, script[1], http.Header{"Accept-Encoding": {"gzip, br"}})
	require.Equal(t, "gzip", compressed.Header().Get("Content-Encoding"))
	require.Less(t, compressed.Body.Len(), w.Body.Len()/3)
}

func TestEachResponseOfThePageThatSendsRequestsHasItsNonce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 3 {
		w := call(t, http.MethodGet, base+tryPath, nil)
		nonce := regexp.MustCompile(`<meta property="csp-nonce" content="([0-9A-Z]{26})">`).FindStringSubmatch(w.Body.String())
		require.Len(t, nonce, 2)
		require.False(t, seen[nonce[1]])
		seen[nonce[1]] = true
		policy := w.Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "style-src 'self' 'nonce-"+nonce[1]+"';")
		require.Contains(t, policy, "script-src 'self';")
		require.Contains(t, policy, "connect-src 'self';")
	}
}

func TestTheReferenceHasSamplesInEachLanguage(t *testing.T) {
	t.Parallel()
	page := read(t, "/docs/reference")
	require.Contains(t, page, `<li class="below"><a href="#placeOrder">Place an order</a></li>`, "the table of contents")
	require.NotContains(t, page, `<li class="below"><a href="#schema-`)
	_, placeOrder, found := strings.Cut(page, `<h3 id="placeOrder">`)
	require.True(t, found)
	placeOrder, _, _ = strings.Cut(placeOrder, "<h3 ")
	for _, language := range []string{"Shell", "TypeScript", "Python", "Go"} {
		require.Contains(t, placeOrder, "<figcaption>"+language+"</figcaption>")
	}
	require.Contains(t, placeOrder, `<div class="tabs">`)
	require.Contains(t, placeOrder, `matches <code>^`, "a pattern, not emphasis")
}

func TestRequestsCanBeTriedInTheSandboxOnly(t *testing.T) {
	t.Parallel()
	for _, environment := range environments {
		s, sandbox := site(t, environment), environment == apikey.Sandbox
		page := callOn(t, s, http.MethodGet, base+"/docs/reference", nil).Body.String()
		require.Equal(t, sandbox, strings.Contains(page, `href="`+base+tryPath+`#tag/orders/POST/orders/%7BorderId%7D:cancel"`))
		require.Equal(t, sandbox, strings.Contains(page, `href="/sandbox"`), "the console")
		require.Equal(t, sandbox, s.Has(base+tryPath))
		require.Equal(t, sandbox, strings.Contains(page, "yours.js"), "a script that knows the console's key")
	}
	require.Regexp(t, `<noscript>[^?]*href="`+base+`/docs/reference"`, read(t, tryPath))
}

func shown(t *testing.T) (document object) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(read(t, "/docs/reference.json")), &document))
	return document
}

func TestTheReferenceShowsWhatTheDocumentHas(t *testing.T) {
	t.Parallel()
	var published object
	require.NoError(t, json.Unmarshal([]byte(read(t, "/openapi.json")), &published))
	document := shown(t)
	for _, section := range []string{"paths", "webhooks"} {
		require.NotEmpty(t, published[section])
		for path, item := range published[section].(object) {
			for method, operation := range item.(object) {
				if op, ok := operation.(object); ok {
					got := document[section].(object)[path].(object)[method].(object)
					require.Equal(t, op["operationId"], got["operationId"])
					require.Equal(t, op["x-extension"] == true, got["x-badges"] != nil, "%s %s", method, path)
				}
			}
		}
	}
	require.Len(t, document["components"].(object)["schemas"], len(published["components"].(object)["schemas"].(object)))
	require.NotContains(t, read(t, "/docs/reference.json"), "](docs/", "a link that leads nowhere")
}

func TestPartsThatAreExtensionsSaySo(t *testing.T) {
	t.Parallel()
	parameters := shown(t)["components"].(object)["parameters"].(object)
	require.Contains(t, parameters["IfMatch"].(object)["description"], "**Extension.** ")
	require.NotContains(t, parameters["IdempotencyKey"].(object)["description"], "**Extension.** ")
}

func TestOptionalParametersHaveNoValueUntilTheReaderGivesOne(t *testing.T) {
	t.Parallel()
	fault := shown(t)["components"].(object)["parameters"].(object)["SandboxFault"].(object)
	require.NotContains(t, fault, "example")
	require.NotContains(t, fault["schema"], "enum")
	require.Contains(t, fault["description"], "Values: `429`, `500`, ")
}
