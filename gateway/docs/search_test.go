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

// ranked runs the script of the search with Node.js.
func ranked(t *testing.T, queries ...string) (found [][]string) {
	t.Helper()
	script, err := os.ReadFile("assets/rank.js")
	require.NoError(t, err)
	written, err := json.Marshal(queries)
	require.NoError(t, err)
	folder := t.TempDir()
	for name, content := range map[string]string{
		"rank.mjs": string(script), "run.mjs": rankQueries, "index.json": read(t, "/docs/search.json"), "queries.json": string(written),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	command := exec.CommandContext(t.Context(), "node", "run.mjs")
	command.Dir = folder
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(output, &found))
	return found
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
