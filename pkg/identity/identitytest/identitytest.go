// Package identitytest makes identities for tests: an authority, and files that it signed.
package identitytest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
)

// TrustDomain of the certificates.
const TrustDomain = "partner-gifting"

// Authority signs for one test.
type Authority struct{ *authority.Authority }

// New makes an authority.
func New(t testing.TB) Authority {
	t.Helper()
	now := time.Now()
	made, err := authority.New("test", now.Add(-time.Hour), now.Add(time.Hour))
	require.NoError(t, err)
	return Authority{Authority: made}
}

// Request describes the certificate of a program.
func Request(name identity.Name) authority.Request {
	now := time.Now()
	return authority.Request{
		URIs: []string{name.URI(TrustDomain)}, Hosts: []string{"localhost", "127.0.0.1"},
		From: now.Add(-time.Hour), Until: now.Add(time.Hour),
	}
}

// Config writes the files of a program with the name.
func (a Authority) Config(t testing.TB, name identity.Name) identity.Config {
	t.Helper()
	return a.Files(t, t.TempDir(), Request(name))
}

// Files writes the files of a program into the folder and replaces existing ones.
func (a Authority) Files(t testing.TB, dir string, r authority.Request) identity.Config {
	t.Helper()
	pair, err := a.Issue(r)
	require.NoError(t, err)
	cfg := identity.Config{
		CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), CAFile: filepath.Join(dir, "ca.crt"),
	}
	require.NoError(t, os.WriteFile(cfg.CertFile, pair.Cert, 0o600))
	require.NoError(t, os.WriteFile(cfg.KeyFile, pair.Key, 0o600))
	require.NoError(t, os.WriteFile(cfg.CAFile, a.Cert, 0o600))
	return cfg
}
