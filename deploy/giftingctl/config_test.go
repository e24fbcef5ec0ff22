package giftingctl_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
)

const twoContexts = `current: one
contexts:
  one:
    addresses: {tenants: "127.0.0.1:1", catalog: "127.0.0.1:1"}
    actor: {kind: backoffice-account, id: ann}
  two:
    addresses: {}
`

func writeContexts(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "giftingctl.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestContexts(t *testing.T) {
	t.Parallel()
	path := writeContexts(t, twoContexts)
	t.Run("are listed, with the current one marked", func(t *testing.T) {
		listed := run(t, path, "context", "list")
		require.Zero(t, listed.code, listed.err)
		require.Regexp(t, `(?m)^\* +one +backoffice-account +ann`, listed.out)
		require.Regexp(t, `(?m)^ +two`, listed.out)
	})
	t.Run("without a certificate make no call", func(t *testing.T) {
		refused := run(t, path, "regions", "list")
		require.Equal(t, 2, refused.code)
		require.Equal(t, "giftingctl: the context has no certificate: set ca, certificate and key of one in "+path+"\n", refused.err)
	})
	t.Run("without an address of the service make no call", func(t *testing.T) {
		refused := run(t, path, "regions", "list", "--context", "two")
		require.Equal(t, 2, refused.code)
		require.Contains(t, refused.err, "set addresses.catalog of two in "+path)
	})
	t.Run("are chosen for later commands", func(t *testing.T) {
		chosen := run(t, path, "context", "use", "two")
		require.Zero(t, chosen.code, chosen.err)
		require.Regexp(t, `(?m)^\* +two`, run(t, path, "context", "list").out)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
	t.Run("show the caller of their certificate", func(t *testing.T) {
		shown := run(t, giftingctltest.Start(t, nil).Config, "context", "show")
		require.Regexp(t, `(?m)^caller +spiffe://partner-gifting/operator$`, shown.out)
	})
	t.Run("that do not exist cannot be chosen", func(t *testing.T) {
		require.Equal(t, 2, run(t, path, "context", "use", "three").code)
		require.Contains(t, run(t, path, "context", "use", "").err, "an argument is empty")
	})
	t.Run("are required", func(t *testing.T) {
		missing := run(t, filepath.Join(t.TempDir(), "none.yaml"), "regions", "list")
		require.Equal(t, 2, missing.code)
		require.Contains(t, missing.err, "there is no file of contexts")
	})
	t.Run("with a member that does not exist are refused", func(t *testing.T) {
		refused := run(t, writeContexts(t, strings.ReplaceAll(twoContexts, "actor:", "author:")), "regions", "list")
		require.Equal(t, 2, refused.code)
		require.Contains(t, refused.err, "author")
	})
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	path := writeContexts(t, twoContexts)
	for want, args := range map[string][]string{
		"correct-status": {"orders", ""},
		"processing":     {"orders", "search", "--status", ""},
		"administrator":  {"team", "put", "--role", ""},
		"personal-links": {"keys", "create", "--scopes", ""},
		"published":      {"products", "set-state", "some-id", ""},
		"two":            {"context", "use", ""},
	} {
		t.Run(want, func(t *testing.T) {
			completed := run(t, path, slices.Concat([]string{"__complete"}, args)...)
			require.Zero(t, completed.code, completed.err)
			require.Contains(t, completed.out, want)
		})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := run(t, path, "completion", shell)
		require.Zero(t, script.code)
		require.Contains(t, script.out, "giftingctl")
	}
}
