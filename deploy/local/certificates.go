package local

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
)

// Lifetimes of the authority and its certificates, and how long before expiry a start renews them.
const (
	authorityLife    = 10 * 365 * 24 * time.Hour
	authorityRenewal = 365 * 24 * time.Hour
	leafLife         = 90 * 24 * time.Hour
	leafRenewal      = 30 * 24 * time.Hour
)

// trustDomain of the stack's identities.
const trustDomain = "partner-gifting"

// certificates is the folder with the stack's own authority and a certificate for every caller.
type certificates struct{ dir string }

// newCertificates makes the certificates that are missing or near expiry, and keeps the others.
func newCertificates(dir string, now time.Time) (certificates, error) {
	dir, err := filepath.Abs(filepath.Join(dir, "tls"))
	if err != nil {
		return certificates{}, fmt.Errorf("folder of certificates: %w", err)
	}
	c := certificates{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return c, fmt.Errorf("folder of certificates: %w", err)
	}
	signer, err := c.authority(now)
	if err != nil {
		return c, fmt.Errorf("authority of the stack: %w", err)
	}
	for _, name := range identity.Names() {
		if c.valid(signer, name, now) {
			continue
		}
		if err := c.issue(signer, name, now); err != nil {
			return c, fmt.Errorf("certificate of %s: %w", name, err)
		}
	}
	return c, nil
}

// MakeCertificates makes the certificates of a stack in the folder, for programs that run in other processes.
func MakeCertificates(dir string, now time.Time) error {
	_, err := newCertificates(dir, now)
	return err
}

func (c certificates) of(name identity.Name) identity.Config {
	return identity.Config{CertFile: c.cert(name), KeyFile: c.key(name), CAFile: c.cert(authorityName), TrustDomain: trustDomain}
}

// authorityName is the file name of the authority.
const authorityName identity.Name = "ca"

func (c certificates) cert(name identity.Name) string {
	return filepath.Join(c.dir, string(name)+".crt")
}

func (c certificates) key(name identity.Name) string {
	return filepath.Join(c.dir, string(name)+".key")
}

func (c certificates) read(name identity.Name) (authority.Pair, error) {
	cert, missing := os.ReadFile(c.cert(name))
	key, err := os.ReadFile(c.key(name))
	return authority.Pair{Cert: cert, Key: key}, errors.Join(missing, err)
}

func (c certificates) write(name identity.Name, p authority.Pair) error {
	return errors.Join(writeFile(c.key(name), p.Key), writeFile(c.cert(name), p.Cert))
}

// authority reads the authority. If it cannot, it makes a new one, which must then sign all certificates again.
func (c certificates) authority(now time.Time) (*authority.Authority, error) {
	if pair, err := c.read(authorityName); err == nil {
		if kept, err := authority.Parse(pair); err == nil && kept.Until().Sub(now) > authorityRenewal {
			return kept, nil
		}
	}
	made, err := authority.New("Partner Gifting on this machine", now.Add(-time.Hour), now.Add(authorityLife))
	if err != nil {
		return nil, err
	}
	return made, c.write(authorityName, made.Pair)
}

// valid reports whether the caller has a certificate that is not near expiry.
func (c certificates) valid(signer *authority.Authority, name identity.Name, now time.Time) bool {
	pair, err := c.read(name)
	if err != nil {
		return false
	}
	read, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(signer.Cert)
	_, err = read.Leaf.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: now.Add(leafRenewal), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	found, unnamed := identity.Of(read.Leaf, trustDomain)
	return err == nil && unnamed == nil && found == name
}

func (c certificates) issue(signer *authority.Authority, name identity.Name, now time.Time) error {
	pair, err := signer.Issue(authority.Request{
		URIs: []string{name.URI(trustDomain)}, Hosts: []string{"localhost", "127.0.0.1"},
		From: now.Add(-time.Hour), Until: now.Add(leafLife),
	})
	if err != nil {
		return err
	}
	return c.write(name, pair)
}
