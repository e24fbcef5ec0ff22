package openapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// extended is a document whose only unmarked members are those named "first".
const extended = `
info: {title: API}
tags: [{name: Things}]
paths:
  /things:
    get:
      operationId: listThings
      summary: List things
      tags: [Things]
      x-extension: true
      parameters:
        - {name: wait, in: query, x-extension: true, schema: {type: integer}}
        - {name: first, in: query, schema: {type: integer}}
      responses:
        "200": {description: Things., headers: {ETag: {$ref: "#/components/headers/Tag"}, First: {description: First.}}}
        "304": {description: Unchanged., x-extension: true}
components:
  headers:
    Tag: {description: Digest., x-extension: true}
  schemas:
    Thing:
      type: object
      properties:
        size: {type: string, x-extension: true}
        first: {type: string}
    Added: {type: object, x-extension: true}
`

func TestExtensionsHaveABadge(t *testing.T) {
	t.Parallel()
	const badge = `<span class="badge">extension</span>`
	root, err := parseYAML([]byte(extended))
	require.NoError(t, err)
	html, err := referencePage(root)
	require.NoError(t, err)
	page := string(html)
	for place, marked := range map[string]string{
		"operation": "List things " + badge,
		"parameter": `<code>wait</code> <span class="type">query, integer</span> ` + badge,
		"header":    "<code>ETag</code> " + badge,
		"response":  `<span class="status">304</span> ` + badge,
		"property":  `<code>size</code> <span class="type">string</span> ` + badge,
		"schema":    "Added " + badge,
	} {
		require.Contains(t, page, marked, place)
	}
	require.Equal(t, 6, strings.Count(page, badge), "something is marked that is no extension")
}
