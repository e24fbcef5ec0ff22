package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	first, err := newCertificates(dir, now)
	require.NoError(t, err)
	of := func(c certificates, name identity.Name) string {
		pair, err := c.read(name)
		require.NoError(t, err)
		return string(pair.Cert)
	}
	authority, orders, gateway := of(first, "ca"), of(first, identity.Orders), of(first, identity.Gateway)
	again := func(t *testing.T, at time.Time) certificates {
		t.Helper()
		c, err := newCertificates(dir, at)
		require.NoError(t, err)
		return c
	}
	t.Run("are readable by their owner only", func(t *testing.T) {
		entries, err := os.ReadDir(first.dir)
		require.NoError(t, err)
		require.Len(t, entries, 2*(1+len(identity.Names())))
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		}
	})
	t.Run("are kept between runs", func(t *testing.T) {
		kept := again(t, now.Add(leafLife-leafRenewal-time.Minute))
		require.Equal(t, []string{authority, orders}, []string{of(kept, "ca"), of(kept, identity.Orders)})
	})
	t.Run("are renewed one by one when they are invalid", func(t *testing.T) {
		require.NoError(t, os.WriteFile(filepath.Join(first.dir, "orders.key"), []byte("half a k"), 0o600))
		renewed := again(t, now)
		require.NotEqual(t, orders, of(renewed, identity.Orders))
		require.Equal(t, gateway, of(renewed, identity.Gateway))
	})
	t.Run("are renewed near expiry by the same authority", func(t *testing.T) {
		renewed := again(t, now.Add(leafLife-leafRenewal+time.Minute))
		require.NotEqual(t, gateway, of(renewed, identity.Gateway))
		require.Equal(t, authority, of(renewed, "ca"))
	})
	t.Run("are all renewed with a new authority", func(t *testing.T) {
		gateway := of(first, identity.Gateway)
		renewed := again(t, now.Add(authorityLife-authorityRenewal))
		require.NotEqual(t, authority, of(renewed, "ca"))
		require.NotEqual(t, gateway, of(renewed, identity.Gateway))
	})
}

func TestValuesOfDemoEnvAreQuotedForAShell(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/home/ann/.local/tls/ca.crt", quoteWord("/home/ann/.local/tls/ca.crt"))
	require.Equal(t, "'/home/Ann Berg/ca.crt'", quoteWord("/home/Ann Berg/ca.crt"))
	require.Equal(t, `'/home/O'\''Hara/ca.crt'`, quoteWord("/home/O'Hara/ca.crt"))
}
