package openapi_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// open lists known values of a set that may grow, closed those of one that may not.
const (
	open   = "x-extensible-enum"
	closed = "enum"
)

// lists finds the lists of values below a schema, by the path of members that leads to them. References are followed, and the
// alternatives of a choice are at the path of the choice.
func lists(root object, value any, at string, found map[string]object) {
	switch v := value.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			_, name, _ := strings.Cut(ref, "#/components/schemas/")
			lists(root, root["components"].(object)["schemas"].(object)[name], at, found)
			return
		}
		if v[open] != nil {
			found[at] = v
		}
		for _, one := range texts(v[closed]) { // Each alternative may have one of the values.
			if before, _ := found[at][closed].([]any); !slices.Contains(before, any(one)) {
				found[at] = object{closed: append(before, one)}
			}
		}
		for name, member := range v {
			if name == "oneOf" || name == "anyOf" || name == "allOf" {
				lists(root, member, at, found)
			} else if name != "not" {
				lists(root, member, at+"/"+name, found)
			}
		}
	case []any:
		for _, element := range v {
			lists(root, element, at, found)
		}
	}
}

// Clients may rely on the values that they know, except of codes, and on the alternatives, except of events. severity.txt makes
// oasdiff accept new ones everywhere.
func TestOnlyCodesAndEventsGetNewValues(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, strings.Count(string(load(t).raw), `"anyOf"`), "FeedEvent")
	raw, err := os.ReadFile("released.yaml")
	require.NoError(t, err)
	var released object
	require.NoError(t, yaml.Unmarshal(raw, &released))
	before, today := map[string]object{}, map[string]object{}
	document := load(t).root
	schemas := document["components"].(object)["schemas"].(object)
	for name, schema := range released["components"].(object)["schemas"].(object) {
		if schemas[name] != nil { // Others are found through those that refer to them.
			lists(released, schema, name, before)
			lists(document, schemas[name], name, today)
		}
	}
	require.Contains(t, before, "Order/properties/status")
	require.Contains(t, before, "EventPage/properties/items/items/properties/environment")
	for at, was := range before {
		if strings.HasSuffix(at, "/code") {
			require.Subset(t, texts(today[at][open]), append(texts(was[open]), texts(was[closed])...), at)
			require.NotContains(t, today[at], closed, "%s: a client must expect codes that it does not know", at)
			continue
		}
		require.Equal(t, texts(was[closed]), texts(today[at][closed]), "%s: a new value breaks clients", at)
	}
}
