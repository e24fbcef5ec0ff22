package conformance_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

func testChanges(t *testing.T, p *platform) {
	address := p.Env["GIFTING_URL"] + "/docs/changelog"
	page := harness.Visit(t, address)
	requirement(t, "CHG-1", func(t *testing.T) {
		require.Equal(t, http.StatusOK, page.Status)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		require.Contains(t, page.Body, `<h2 id="first-version">`)
	})
	requirement(t, "CHG-2", func(t *testing.T) {
		feed := harness.Visit(t, address+".atom")
		require.Equal(t, http.StatusOK, feed.Status)
		require.Equal(t, "application/atom+xml; charset=utf-8", feed.Header.Get("Content-Type"))
		var atom struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			Entries []struct {
				ID      string `xml:"id"`
				Title   string `xml:"title"`
				Updated string `xml:"updated"`
			} `xml:"entry"`
		}
		require.NoError(t, xml.Unmarshal([]byte(feed.Body), &atom))
		require.Len(t, atom.Entries, strings.Count(page.Body, `<h2 id="`))
		for _, entry := range atom.Entries {
			_, anchor, _ := strings.Cut(entry.ID, "/docs/changelog#")
			require.Contains(t, page.Body, `<h2 id="`+anchor+`">`+entry.Title+`</h2>`)
			_, err := time.Parse(time.RFC3339, entry.Updated)
			require.NoError(t, err)
		}
	})
}
