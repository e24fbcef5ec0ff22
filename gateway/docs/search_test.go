//go:build sdk

package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rankQueries prints the addresses that the script of the search finds in an index for each query.
const rankQueries = `
import { readFileSync } from 'node:fs'
import { prepare } from './rank.mjs'
const search = prepare(JSON.parse(readFileSync('index.json')))
const queries = JSON.parse(readFileSync('queries.json'))
console.log(JSON.stringify(queries.map((query) => search(query).found.map(({ entry }) => entry.href))))
`

// runScript runs a module with Node.js beside the script of the search, and returns what it prints.
func runScript(t *testing.T, module string, files map[string]string) []byte {
	t.Helper()
	script, err := os.ReadFile("assets/rank.js")
	require.NoError(t, err)
	folder := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rank.mjs"), script, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "run.mjs"), []byte(module), 0o600))
	command := exec.CommandContext(t.Context(), "node", "run.mjs")
	command.Dir = folder
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	return output
}

// ranked searches with the script of the search.
func ranked(t *testing.T, queries ...string) (found [][]string) {
	t.Helper()
	written, err := json.Marshal(queries)
	require.NoError(t, err)
	output := runScript(t, rankQueries, map[string]string{"index.json": read(t, "/docs/search.json"), "queries.json": string(written)})
	require.NoError(t, json.Unmarshal(output, &found))
	return found
}

func TestTheSearchLoadsItsIndexAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	require.Equal(t, "failed failed failed function function 4\n", string(runScript(t, `
import { loader } from './rank.mjs'
let calls = 0
const answers = [
  () => Promise.reject(new TypeError('no connection')),
  () => new Response('<html>', { status: 200 }),
  () => new Response('[]', { status: 503 }),
  () => new Response('[]'),
]
const load = loader(async () => answers[calls++]())
const outcomes = []
for (let i = 0; i < 5; i++) outcomes.push(await load().then((search) => typeof search, () => 'failed'))
console.log(...outcomes, calls)
`, nil)))
}

func TestTheSearchLeadsToTheRightPage(t *testing.T) {
	t.Parallel()
	first := map[string]string{
		"webhooks":                   "/docs/webhooks",
		"webhok":                     "/docs/webhooks",
		"web hooks":                  "/docs/webhooks",
		"webhook retires":            "/docs/webhooks#retries",
		"429":                        "/docs/errors/rate_limited",
		"ip allowlist":               "/docs/network",
		"rate limit":                 "/docs/authentication#limit",
		"out_of_stock":               "/docs/errors/out_of_stock",
		"how do I cancel an order":   "/docs/orders#cancel",
		"cancle order":               "/docs/orders",
		"place order":                "/docs/reference#placeOrder",
		"POST /orders":               "/docs/reference#placeOrder",
		"idempotency":                "/docs/idempotency",
		"idempotancy key":            "/docs/errors/idempotency_key_required",
		"rotate secret":              "/docs/webhooks#rotate",
		"verify signature":           "/docs/webhooks#verify",
		"webhookUrl":                 "/docs/webhooks#url",
		"set webhook url":            "/docs/webhooks#url",
		"quikstart":                  "/docs/quickstart",
		"sandbox":                    "/docs/sandbox",
		"personal link":              "/docs/personal-links",
		"get order":                  "/docs/reference#getOrder",
		"token":                      "/docs/authentication",
		"python":                     "/docs/sdks#python",
		"ruby":                       "/docs/webhooks#verify",
		"postman":                    "/docs/sandbox#postman",
		"external_order_id_conflict": "/docs/errors/external_order_id_conflict",
	}
	var queries []string
	for query := range first {
		queries = append(queries, query)
	}
	for i, found := range ranked(t, queries...) {
		require.NotEmpty(t, found, queries[i])
		require.Equal(t, base+first[queries[i]], found[0], queries[i])
	}
	require.Empty(t, ranked(t, "qqqq")[0])
}
