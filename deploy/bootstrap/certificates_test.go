package bootstrap_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

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
	const renewal = bootstrap.DefaultLife / 2
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
}

// The page on production says to run it each month. Months have up to 31 days.
func TestARunEachMonthRenewsBeforeTheAlert(t *testing.T) {
	t.Parallel()
	const alert = 7 * 24 * time.Hour // GiftingCertificateExpiry
	files := bootstrap.Certificates{Dir: t.TempDir()}
	at := time.Date(2026, time.November, 1, 9, 0, 0, 0, time.UTC)
	for range 5 * 12 {
		_, err := files.Make(at)
		require.NoError(t, err)
		next := at.AddDate(0, 1, 0)
		require.Greater(t, copyOf(t, files).leaf.NotAfter.Sub(next), alert, "what is left before the run of %s", next)
		at = next
	}
}

func TestRunsAtTheSameTimeMakeOneAuthority(t *testing.T) {
	t.Parallel()
	files, now := bootstrap.Certificates{Dir: filepath.Join(t.TempDir(), "tls")}, time.Now()
	var runs errgroup.Group
	for range 8 {
		runs.Go(func() error {
			_, err := files.Make(now)
			return err
		})
	}
	require.NoError(t, runs.Wait())
	made, err := files.Make(now)
	require.NoError(t, err)
	require.Empty(t, made, "the authority and all its certificates are valid")
}

// copied is what a program has that got the files of a run.
type copied struct {
	roots *x509.CertPool
	leaf  *x509.Certificate
}

func copyOf(t *testing.T, files bootstrap.Certificates) copied {
	t.Helper()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(read(t, files.Cert("ca"))))
	pair, err := tls.LoadX509KeyPair(files.Cert(identity.Orders), files.Key(identity.Orders))
	require.NoError(t, err)
	return copied{roots, pair.Leaf}
}

func (c copied) requireAccepts(t *testing.T, other copied, at time.Time) {
	t.Helper()
	_, err := other.leaf.Verify(x509.VerifyOptions{
		Roots: c.roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	require.NoError(t, err)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

// The files of a run reach one program after another. Meanwhile programs with the files of the run before must accept the others.
func TestTheSuccessorOfAnAuthorityIsTrustedBeforeItSigns(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	files, start := bootstrap.Certificates{Dir: t.TempDir()}, time.Now()
	end := start.Add(bootstrap.AuthorityLife)
	_, err := files.Make(start)
	require.NoError(t, err)
	first := read(t, files.Cert("ca"))
	at := end.Add(-bootstrap.AuthorityRenewal - month/2)
	_, err = files.Make(at)
	require.NoError(t, err)
	require.Equal(t, first, read(t, files.Cert("ca")))
	for at = at.Add(month); at.Before(end.Add(2 * month)); at = at.Add(month) {
		before := copyOf(t, files)
		_, err := files.Make(at)
		require.NoError(t, err)
		after := copyOf(t, files)
		before.requireAccepts(t, after, at)
		after.requireAccepts(t, before, at)
		require.Equal(t, at.Before(end), bytes.HasPrefix(read(t, files.Cert("ca")), first), "trusted until it expires")
	}
	require.Equal(t, 1, bytes.Count(read(t, files.Cert("ca")), []byte("BEGIN")), "it has one successor")
}

func TestTheEndOfAnAuthorityIsNear(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	setup := func(t *testing.T, life time.Duration) (files bootstrap.Certificates, end time.Time) {
		t.Helper()
		now := time.Now()
		files = bootstrap.Certificates{Dir: t.TempDir(), Life: life}
		_, err := files.Make(now)
		require.NoError(t, err)
		return files, now.Add(bootstrap.AuthorityLife)
	}
	t.Run("a certificate expires no later", func(t *testing.T) {
		t.Parallel()
		files, end := setup(t, 2*bootstrap.AuthorityRenewal)
		_, err := files.Make(end.Add(-300 * day))
		require.NoError(t, err)
		require.WithinDuration(t, end, copyOf(t, files).leaf.NotAfter, 2*time.Second)
	})
	t.Run("its successor signs at once if there is no time left", func(t *testing.T) {
		t.Parallel()
		files, end := setup(t, 0)
		_, err := files.Make(end.Add(-5 * day))
		require.NoError(t, err)
		made := copyOf(t, files)
		made.requireAccepts(t, made, end.Add(day))
	})
	t.Run("nothing is made with the key of its predecessor", func(t *testing.T) {
		t.Parallel()
		files, end := setup(t, 0)
		inVault := read(t, files.Key("ca"))
		_, err := files.Make(end.Add(-300 * day))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(files.Key("ca"), inVault, 0o600))
		before := contents(t, files.Dir)
		_, err = files.Make(end.Add(-270 * day))
		require.ErrorContains(t, err, "ca.key lacks the key of an authority in ca.crt")
		require.Equal(t, before, contents(t, files.Dir))
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
		}, "ca.key lacks the key of an authority in ca.crt"},
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
