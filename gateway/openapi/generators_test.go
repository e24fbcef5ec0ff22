package openapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These are the reasons for which generators dropped parts of the document or made clients that did not compile. `make clients`
// shows the rest.
func TestGeneratorsGetWhatTheyNeed(t *testing.T) {
	t.Parallel()
	d := load(t)
	t.Run("schemas are flat", func(t *testing.T) {
		require.NotContains(t, string(d.raw), `"allOf"`)
		require.NotContains(t, string(d.raw), `"discriminator"`)
	})
	t.Run("members of schemas have no defaults, which would make them required", func(t *testing.T) {
		for at, schema := range d.object(d.at("components", "schemas")) {
			require.NotContains(t, asText(t, schema), `"default":`, at)
		}
	})
	t.Run("each operation of a tag has its file", func(t *testing.T) {
		tags := map[string]bool{}
		d.each("paths", func(_, _ string, op object) { tags[texts(op["tags"])[0]] = true })
		d.each("webhooks", func(name, _ string, op object) { require.NotContains(t, tags, texts(op["tags"])[0], name) })
	})
	t.Run("a path uses every component that a webhook uses", func(t *testing.T) {
		used := map[string]bool{}
		d.addReferences(asText(t, d.root["paths"]), used)
		for _, ref := range reference.FindAllString(asText(t, d.root["webhooks"]), -1) {
			require.Contains(t, used, ref)
		}
	})
	t.Run("no Idempotency-Key is the example of all", func(t *testing.T) {
		require.NotContains(t, d.at("components", "parameters", "IdempotencyKey"), "example")
	})
}

var reference = regexp.MustCompile(`#/components/[^"]+`)

// addReferences adds the components that a part of the document refers to, and those that these refer to.
func (d document) addReferences(part string, used map[string]bool) {
	d.t.Helper()
	for _, ref := range reference.FindAllString(part, -1) {
		if !used[ref] {
			used[ref] = true
			d.addReferences(asText(d.t, d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)), used)
		}
	}
}

func asText(t *testing.T, part any) string {
	t.Helper()
	text, err := json.Marshal(part)
	require.NoError(t, err)
	return string(text)
}
