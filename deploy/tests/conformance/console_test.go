package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// fileForm finds the addresses of the files of a page.
var fileForm = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func testConsole(t *testing.T, p *platform) {
	base := strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1")
	page := harness.Visit(t, base+"/sandbox")
	requirement(t, "CSL-1", func(t *testing.T) {
		require.Equal(t, http.StatusOK, page.Status)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		files := fileForm.FindAllStringSubmatch(page.Body, -1)
		require.NotEmpty(t, files)
		for _, file := range files {
			require.Equal(t, http.StatusOK, harness.Visit(t, base+file[1]).Status, file[1])
		}
	})
	requirement(t, "CSL-2", func(t *testing.T) {
		policy := page.Header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
			require.Contains(t, policy, directive)
		}
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, page.Body, "://")
	})
}
