package identity_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
)

// clock is moved by hand.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) move(by time.Duration) { c.now = c.now.Add(by) }

// shown is the serial number of the certificate that the server shows to the next client.
func shown(t *testing.T, server *tls.Config) string {
	t.Helper()
	cfg, err := server.GetConfigForClient(nil)
	require.NoError(t, err)
	return cfg.Certificates[0].Leaf.SerialNumber.String()
}

func TestNewFilesAreUsedWithoutARestart(t *testing.T) {
	t.Parallel()
	signer, dir := identitytest.New(t), t.TempDir()
	cfg := signer.Files(t, dir, identitytest.Request(identity.Orders))
	var log bytes.Buffer
	at := &clock{now: time.Now()}
	files, err := identity.Open(cfg, at.Now, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	server, first := files.Server(), ""

	t.Run("the first ones stay in use while they do not change", func(t *testing.T) {
		first = shown(t, server)
		at.move(time.Second)
		require.Equal(t, first, shown(t, server))
		require.Empty(t, log.String())
	})
	t.Run("the files are checked at most once a second", func(t *testing.T) {
		signer.Files(t, dir, identitytest.Request(identity.Orders))
		at.move(time.Second - time.Nanosecond)
		require.Equal(t, first, shown(t, server))
	})
	second := ""
	t.Run("and then serve new clients", func(t *testing.T) {
		at.move(time.Second)
		second = shown(t, server)
		require.NotEqual(t, first, second)
		require.Contains(t, log.String(), "new certificate in use")
	})
	t.Run("bad ones are left alone, and logged once", func(t *testing.T) {
		log.Reset()
		require.NoError(t, os.WriteFile(cfg.KeyFile, []byte("half a k"), 0o600))
		for range 3 {
			at.move(time.Second)
			require.Equal(t, second, shown(t, server))
		}
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("cannot be used")))
	})
	t.Run("an expired one is left alone", func(t *testing.T) {
		log.Reset()
		r := identitytest.Request(identity.Orders)
		r.Until = at.now.Add(-time.Minute)
		signer.Files(t, dir, r)
		at.move(time.Second)
		require.Equal(t, second, shown(t, server))
		require.Contains(t, log.String(), "not valid now")
	})
	t.Run("one of a signer whose clock is ahead is used as soon as it is valid", func(t *testing.T) {
		log.Reset()
		r := identitytest.Request(identity.Orders)
		r.From = at.now.Add(time.Minute)
		signer.Files(t, dir, r)
		for range 3 {
			at.move(time.Second)
			require.Equal(t, second, shown(t, server))
		}
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("cannot be used")))
		at.move(time.Minute)
		third := shown(t, server)
		require.NotEqual(t, second, third)
		second = third
	})
	t.Run("a missing one is waited for", func(t *testing.T) {
		require.NoError(t, os.Remove(cfg.CertFile))
		at.move(time.Second)
		require.Equal(t, second, shown(t, server))
		signer.Files(t, dir, identitytest.Request(identity.Orders))
		at.move(time.Second)
		require.NotEqual(t, second, shown(t, server))
	})
}

// TestFilesReplacedByALink follows how Kubernetes replaces the files of a secret: they are links
// into a folder that is itself a link, and only that one changes.
func TestFilesReplacedByALink(t *testing.T) {
	t.Parallel()
	signer, volume := identitytest.New(t), t.TempDir()
	data := filepath.Join(volume, "..data")
	place := func(version string) {
		dir := filepath.Join(volume, version)
		require.NoError(t, os.Mkdir(dir, 0o700))
		signer.Files(t, dir, identitytest.Request(identity.Orders))
		require.NoError(t, os.Symlink(version, data+"_tmp"))
		require.NoError(t, os.Rename(data+"_tmp", data))
	}
	place("..1")
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name)))
	}
	at := &clock{now: time.Now()}
	files, err := identity.Open(identity.Config{
		CertFile: filepath.Join(volume, "tls.crt"), KeyFile: filepath.Join(volume, "tls.key"), CAFile: filepath.Join(volume, "ca.crt"),
	}, at.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	before := shown(t, files.Server())
	place("..2")
	at.move(time.Second)
	require.NotEqual(t, before, shown(t, files.Server()))
}

func TestANewAuthorityIsTrustedByBothSides(t *testing.T) {
	t.Parallel()
	old, renewed := identitytest.New(t), identitytest.New(t)
	at := &clock{now: time.Now()}
	log := slog.New(slog.DiscardHandler)
	servers, clients := t.TempDir(), t.TempDir()
	server, err := identity.Open(old.Files(t, servers, identitytest.Request(identity.Orders)), at.Now, log)
	require.NoError(t, err)
	client, err := identity.Open(old.Files(t, clients, identitytest.Request(identity.Gateway)), at.Now, log)
	require.NoError(t, err)
	serving, asking := server.Server(), client.Client(identity.Orders)

	renewed.Files(t, servers, identitytest.Request(identity.Orders))
	at.move(time.Second)
	atClient, _ := meet(t, asking, serving)
	require.ErrorContains(t, atClient, "unknown authority")
	renewed.Files(t, clients, identitytest.Request(identity.Gateway))
	at.move(time.Second)
	atClient, atServer := meet(t, asking, serving)
	require.NoError(t, atClient)
	require.NoError(t, atServer)
}

// TestAnAuthorityIsReplacedWithoutAGap follows how it is done: both authorities are trusted before the first certificate of the
// new one is in use.
func TestAnAuthorityIsReplacedWithoutAGap(t *testing.T) {
	t.Parallel()
	old, renewed := identitytest.New(t), identitytest.New(t)
	both := func(cfg identity.Config) *identity.Files {
		require.NoError(t, os.WriteFile(cfg.CAFile, append(old.Cert, renewed.Cert...), 0o600))
		return open(t, cfg)
	}
	server, client := both(renewed.Config(t, identity.Orders)), both(old.Config(t, identity.Gateway))
	atClient, atServer := meet(t, client.Client(identity.Orders), server.Server())
	require.NoError(t, atClient)
	require.NoError(t, atServer)
}
