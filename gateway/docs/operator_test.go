package docs_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// guidesOf makes the site of production with what an operator says, and returns its pages as Markdown, by their names.
func guidesOf(t *testing.T, operator docs.Operator) func(name string) string {
	t.Helper()
	document, err := openapi.New(publicURL, apikey.Production, nil)
	require.NoError(t, err)
	s, err := docs.New(document, base, operator, slog.Default())
	require.NoError(t, err)
	return func(name string) string {
		w := callOn(t, s, http.MethodGet, base+"/docs/"+name+".md", nil)
		require.Equal(t, http.StatusOK, w.Code, name)
		require.NotContains(t, w.Body.String(), "<!--", name)
		return w.Body.String()
	}
}

func TestTheOperatorFillsThePages(t *testing.T) {
	t.Parallel()
	guide := guidesOf(t, docs.Operator{
		SandboxURL: "https://sandbox.gifts.test" + base, WebhookAddresses: []string{"192.0.2.7", "198.51.100.0/28"},
		StatusURL: "https://status.gifts.test", Support: "desk@gifts.test",
	})
	require.Contains(t, guide("network"), "- `192.0.2.7`\n- `198.51.100.0/28`\n")
	require.Contains(t, guide("going-live"), "[status page](https://status.gifts.test)")
	require.Contains(t, guide("going-live"), "Support: desk@gifts.test.")
	require.Contains(t, guide("index"), "`https://sandbox.gifts.test"+base+"`")
	require.Contains(t, guide("quickstart"), "GIFTING_URL=https://sandbox.gifts.test"+base+"\n", "the key is one of the sandbox")
	require.NotContains(t, guide("quickstart"), publicURL)
}

func TestPagesSayWhatTheOperatorLeftOpen(t *testing.T) {
	t.Parallel()
	guide := guidesOf(t, docs.Operator{})
	require.Contains(t, guide("network"), "Do not filter by address")
	require.Contains(t, guide("going-live"), "no public status page")
	require.NotContains(t, guide("quickstart"), publicURL)
}

func TestTheWebhooksGuideHasThePayloadOfEachType(t *testing.T) {
	t.Parallel()
	page := read(t, "/docs/webhooks.md")
	for name := range shown(t)["webhooks"].(object) {
		require.Contains(t, page, "\n  \"type\": \""+name+"\",\n", name)
	}
}

// Readers of production have no demo.
func TestNoPageSpeaksOfTheDemo(t *testing.T) {
	t.Parallel()
	for _, path := range pages(t) {
		require.NotRegexp(t, `(?i)\bdemo\b`, call(t, http.MethodGet, path, nil).Body.String(), path)
	}
}
