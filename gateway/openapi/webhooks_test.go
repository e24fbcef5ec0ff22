package openapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWebhooksAreNamedByTheTypeOfTheirEvent(t *testing.T) {
	t.Parallel()
	d := load(t)
	var feed []string
	for _, event := range d.at("components", "schemas", "FeedEvent", "anyOf").([]any) {
		feed = append(feed, texts(d.object(d.object(d.object(event)["properties"])["type"])["enum"])...)
	}
	unknown := d.schema("components", "schemas", "UnknownEvent", "properties", "type")
	require.NoError(t, unknown.Validate("order.renamed"))
	d.each("webhooks", func(name, method string, op object) {
		require.Equal(t, "post", method)
		require.Equal(t, []any{name},
			d.at("webhooks", name, "post", "requestBody", "content", "application/json", "schema", "properties", "type", "enum"))
		require.Equal(t, name != "ping", slices.Contains(feed, name), "only a ping is not in the feed")
		require.Error(t, unknown.Validate(name), "UnknownEvent excludes every type that has a schema")
		require.Len(t, op["parameters"], 5)
	})
}
