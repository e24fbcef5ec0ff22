package giftingctl_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyFile writes an API key to a file.
func keyFile(t *testing.T, key string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api-key")
	require.NoError(t, os.WriteFile(path, []byte(key+"\n"), 0o600))
	return path
}

func (f fixture) testCheck(t *testing.T) {
	checked := f.ok(t, "check", "--url", f.Env["GIFTING_URL"], "--key-file", keyFile(t, f.Env["GIFTING_KEY"]))
	require.Regexp(t, `^The order [0-9a-f-]{36} was placed and cancelled.\n$`, checked.err)
	refused := f.run(t, "check", "--url", f.Env["GIFTING_URL"], "--key-file", keyFile(t, "gft_sbx_unknown"))
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.err, "the API answered 401 Unauthorized to GET /me")
}

func TestACheckPlacesNoOrderInProduction(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 10)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.URL.Path
		_, _ = w.Write([]byte(`{"environment": "production"}`))
	}))
	t.Cleanup(api.Close)
	refused := run(t, filepath.Join(t.TempDir(), "none"), "check", "--url", api.URL, "--key-file", keyFile(t, "key"))
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.err, "this is not a sandbox")
	require.Equal(t, "/me", <-requests)
	require.Empty(t, requests)
}

func TestACheckThatCannotSucceedIsNotRepeated(t *testing.T) {
	t.Parallel()
	for url, key := range map[string]string{
		"host/x": "key", "ftp://host": "key", "http://127.0.0.1:1": "two\nlines", "https://127.0.0.1:1": "",
	} {
		require.Equal(t, 2, run(t, filepath.Join(t.TempDir(), "none"), "check", "--url", url, "--key-file", keyFile(t, key)).code, url)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"environment":`))
	}))
	t.Cleanup(api.Close)
	broken := run(t, filepath.Join(t.TempDir(), "none"), "check", "--url", api.URL, "--key-file", keyFile(t, "key"))
	require.Equal(t, 3, broken.code, broken.err)
}
