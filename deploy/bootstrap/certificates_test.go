package bootstrap_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/pkg/identity"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	files := bootstrap.Certificates{Dir: filepath.Join(dir, "tls")}
	made, err := files.Make(now)
	require.NoError(t, err)
	require.Len(t, made, 1+len(identity.Names()))
	of := func(name identity.Name) string {
		cert, err := os.ReadFile(files.Cert(name))
		require.NoError(t, err)
		return string(cert)
	}
	authority, orders, gateway := of("ca"), of(identity.Orders), of(identity.Gateway)
	again := func(t *testing.T, at time.Time) []identity.Name {
		t.Helper()
		made, err := files.Make(at)
		require.NoError(t, err)
		return made
	}
	const renewal = bootstrap.DefaultLife / 3
	t.Run("are readable by their owner only", func(t *testing.T) {
		entries, err := os.ReadDir(files.Dir)
		require.NoError(t, err)
		require.Len(t, entries, 2*(1+len(identity.Names())))
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		}
	})
	t.Run("are kept between runs", func(t *testing.T) {
		require.Empty(t, again(t, now.Add(bootstrap.DefaultLife-renewal-time.Minute)))
		require.Equal(t, []string{authority, orders}, []string{of("ca"), of(identity.Orders)})
	})
	t.Run("are renewed one by one when they are invalid", func(t *testing.T) {
		require.NoError(t, os.WriteFile(files.Key(identity.Orders), []byte("half a k"), 0o600))
		require.Equal(t, []identity.Name{identity.Orders}, again(t, now))
		require.NotEqual(t, orders, of(identity.Orders))
		require.Equal(t, gateway, of(identity.Gateway))
	})
	t.Run("are all renewed on request by the same authority", func(t *testing.T) {
		all := files
		all.RenewAll, all.Life = true, 200*24*time.Hour
		made, err := all.Make(now)
		require.NoError(t, err)
		require.Equal(t, identity.Names(), made)
		require.Equal(t, authority, of("ca"))
		require.Empty(t, again(t, now.Add(200*24*time.Hour-renewal-time.Minute)), "they have the life that was asked for")
	})
	t.Run("are renewed near expiry by the same authority", func(t *testing.T) {
		require.Equal(t, identity.Names(), again(t, now.Add(200*24*time.Hour-renewal+time.Minute)))
		require.Equal(t, authority, of("ca"))
	})
	t.Run("are all renewed with a new authority", func(t *testing.T) {
		require.Len(t, again(t, now.Add(bootstrap.AuthorityLife-bootstrap.AuthorityRenewal)), 1+len(identity.Names()))
		require.NotEqual(t, authority, of("ca"))
	})
}

// The page on production says to keep ca.key in a vault.
func TestAnAuthorityThatCannotBeReadIsNeverReplaced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(t *testing.T, cert, key string)
		want   string
	}{
		"its key is in a vault": {func(t *testing.T, _, key string) {
			t.Helper()
			require.NoError(t, os.Remove(key))
		}, "ca.crt exists without ca.key"},
		"its certificate is gone": {func(t *testing.T, cert, _ string) {
			t.Helper()
			require.NoError(t, os.Remove(cert))
		}, "are no authority"},
		"its key is cut": {func(t *testing.T, _, key string) {
			t.Helper()
			require.NoError(t, os.Truncate(key, 20))
		}, "are no authority"},
		"both are empty": {func(t *testing.T, cert, key string) {
			t.Helper()
			require.NoError(t, os.Truncate(cert, 0))
			require.NoError(t, os.Truncate(key, 0))
		}, "are no authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := bootstrap.Certificates{Dir: t.TempDir()}
			_, err := files.Make(time.Now())
			require.NoError(t, err)
			tc.change(t, files.Cert("ca"), files.Key("ca"))
			before := contents(t, files.Dir)
			_, err = files.Make(time.Now())
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, before, contents(t, files.Dir))
		})
	}
}

func TestCertificatesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]bootstrap.Certificates{
		"a trust domain with a slash": {TrustDomain: "example.org/x"},
		"a trust domain with a quote": {TrustDomain: `example"org`},
		"longer than their authority": {Life: bootstrap.AuthorityLife + time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files.Dir = t.TempDir()
			_, err := files.Make(time.Now())
			require.Error(t, err)
			require.Empty(t, contents(t, files.Dir))
		})
	}
}
