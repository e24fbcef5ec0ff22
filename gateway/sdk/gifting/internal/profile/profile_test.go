package profile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/profile"
)

var sandbox = profile.Profile{URL: "https://sandbox.example.com/api/public/v1", Tenant: "Fjord", Environment: "sandbox"}

func read(t *testing.T, path string) *profile.File {
	t.Helper()
	file, err := profile.Read(path)
	require.NoError(t, err)
	return file
}

func TestProfiles(t *testing.T) { //nolint:paralleltest // The keyring of the tests is one of the process.
	t.Run("a key is in the keyring and not in the file", func(t *testing.T) {
		keyring.MockInit()
		path := filepath.Join(t.TempDir(), "folder", "gifting.yaml")
		inFile, err := read(t, path).Add("sandbox", sandbox, "gft_sbx_1", false)
		require.NoError(t, err)
		require.False(t, inFile)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(content), "gft_sbx_1")
		key, err := read(t, path).KeyOf("")
		require.NoError(t, err)
		require.Equal(t, "gft_sbx_1", key)
		require.NoError(t, read(t, path).Remove("sandbox"))
		_, err = read(t, path).KeyOf("")
		require.ErrorIs(t, err, profile.ErrNone)
		_, err = keyring.Get("partner-gifting", "sandbox "+sandbox.URL)
		require.ErrorIs(t, err, keyring.ErrNotFound)
	})
	for name, noKeyring := range map[string]bool{"without a keyring": false, "if the user wants it": true} {
		t.Run("a key is in a file that only its owner may read, "+name, func(t *testing.T) {
			keyring.MockInitWithError(keyring.ErrUnsupportedPlatform)
			path := filepath.Join(t.TempDir(), "gifting.yaml")
			inFile, err := read(t, path).Add("sandbox", sandbox, "gft_sbx_1", noKeyring)
			require.NoError(t, err)
			require.True(t, inFile)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			key, err := read(t, path).KeyOf("sandbox")
			require.NoError(t, err)
			require.Equal(t, "gft_sbx_1", key)
			require.NoError(t, os.Chmod(path, 0o640)) //nolint:gosec // That is what is refused.
			_, err = profile.Read(path)
			require.ErrorIs(t, err, profile.ErrReadable)
		})
	}
	for name, replaced := range map[string]struct {
		url       string
		noKeyring bool
	}{
		"by one in the file":       {sandbox.URL, true},
		"by one of another server": {"https://other.example.com", false},
	} {
		t.Run("the keyring forgets a key that is replaced "+name, func(t *testing.T) {
			keyring.MockInit()
			path := filepath.Join(t.TempDir(), "gifting.yaml")
			_, err := read(t, path).Add("sandbox", sandbox, "gft_sbx_1", false)
			require.NoError(t, err)
			next := sandbox
			next.URL = replaced.url
			_, err = read(t, path).Add("sandbox", next, "gft_sbx_2", replaced.noKeyring)
			require.NoError(t, err)
			key, err := read(t, path).KeyOf("sandbox")
			require.NoError(t, err)
			require.Equal(t, "gft_sbx_2", key)
			_, err = keyring.Get("partner-gifting", "sandbox "+sandbox.URL)
			require.ErrorIs(t, err, keyring.ErrNotFound)
		})
	}
	t.Run("a key that the keyring has lost is missed", func(t *testing.T) {
		keyring.MockInit()
		path := filepath.Join(t.TempDir(), "gifting.yaml")
		_, err := read(t, path).Add("sandbox", sandbox, "gft_sbx_1", false)
		require.NoError(t, err)
		keyring.MockInit()
		_, err = read(t, path).KeyOf("sandbox")
		require.ErrorIs(t, err, profile.ErrKeyring)
	})
	t.Run("a file whose profiles were removed by hand takes a new one", func(t *testing.T) {
		keyring.MockInit()
		path := filepath.Join(t.TempDir(), "gifting.yaml")
		require.NoError(t, os.WriteFile(path, []byte("profiles:"), 0o600))
		_, err := read(t, path).Add("sandbox", sandbox, "gft_sbx_1", false)
		require.NoError(t, err)
		require.Equal(t, []string{"sandbox"}, read(t, path).Names())
	})
	t.Run("a file with other members is refused", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "gifting.yaml")
		require.NoError(t, os.WriteFile(path, []byte("profile: {}"), 0o600))
		_, err := profile.Read(path)
		require.ErrorContains(t, err, "field profile not found")
		_, err = profile.Read("")
		require.ErrorIs(t, err, profile.ErrNoHome)
	})
}
