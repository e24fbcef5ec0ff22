package bootstrap

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
)

// Lifetimes. A run renews a certificate in the second half of its life, so that with DefaultLife a run each month is enough. In the
// last year of the authority a run makes its successor, which begins to sign AuthorityOverlap later: programs that do not know it
// yet would refuse its certificates.
const (
	AuthorityLife    = 10 * 365 * 24 * time.Hour
	AuthorityRenewal = 365 * 24 * time.Hour
	AuthorityOverlap = 30 * 24 * time.Hour
	// DefaultLife is the life of certificates.
	DefaultLife    = 90 * 24 * time.Hour
	renewalDivisor = 2
)

// DefaultTrustDomain is the trust domain of the identities unless another one is chosen.
const DefaultTrustDomain = "partner-gifting"

// Certificates is a folder with an authority, ca.crt and ca.key, and a certificate for every caller. Near the end of the authority
// both files have it and its successor, the older one first.
type Certificates struct {
	Dir string
	// Authority is the name of the authority when it is made.
	Authority string
	// TrustDomain and Life are those of the certificates; empty: DefaultTrustDomain and DefaultLife.
	TrustDomain string
	Life        time.Duration
	// RenewAll issues all certificates again, also those that are far from expiry.
	RenewAll bool
}

// Make makes the certificates that are missing or near expiry, keeps the others, and returns the names of those it made. One run at
// a time works in a folder.
func (c Certificates) Make(now time.Time) (made []identity.Name, err error) {
	c = c.withDefaults()
	if (identity.Config{TrustDomain: c.TrustDomain}).Validate() != nil {
		return nil, errTrustDomain
	}
	if c.Life > AuthorityLife {
		return nil, errLife
	}
	if err := os.MkdirAll(c.Dir, privateFolder); err != nil {
		return nil, fmt.Errorf("folder of certificates: %w", err)
	}
	folder, err := lockFolder(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of certificates: %w", err)
	}
	defer func() { _ = folder.Close() }()
	signer, changed, err := c.authority(now)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	if changed {
		made = append(made, AuthorityName)
	}
	for _, name := range identity.Names() {
		if !c.RenewAll && c.valid(signer, name, now) {
			continue
		}
		if err := c.issue(signer, name, now); err != nil {
			return made, fmt.Errorf("certificate of %s: %w", name, err)
		}
		made = append(made, name)
	}
	return made, nil
}

func (c Certificates) withDefaults() Certificates {
	if c.Authority == "" {
		c.Authority = "Partner Gifting"
	}
	if c.TrustDomain == "" {
		c.TrustDomain = DefaultTrustDomain
	}
	if c.Life == 0 {
		c.Life = DefaultLife
	}
	return c
}

// Of returns the paths of the files that a caller needs.
func (c Certificates) Of(name identity.Name) identity.Config {
	return identity.Config{
		CertFile: c.Cert(name), KeyFile: c.Key(name), CAFile: c.Cert(AuthorityName), TrustDomain: c.withDefaults().TrustDomain,
	}
}

// AuthorityName is the file name of the authority.
const AuthorityName identity.Name = "ca"

// Cert is the file with the certificate.
func (c Certificates) Cert(name identity.Name) string {
	return filepath.Join(c.Dir, string(name)+".crt")
}

// Key is the file with the private key.
func (c Certificates) Key(name identity.Name) string {
	return filepath.Join(c.Dir, string(name)+".key")
}

func (c Certificates) read(name identity.Name) (authority.Pair, error) {
	cert, missing := os.ReadFile(c.Cert(name))
	key, err := os.ReadFile(c.Key(name))
	return authority.Pair{Cert: cert, Key: key}, errors.Join(missing, err)
}

func (c Certificates) write(name identity.Name, p authority.Pair) error {
	return errors.Join(WriteFile(c.Key(name), p.Key), WriteFile(c.Cert(name), p.Cert))
}

const startOver = "remove what is left to make a new authority, which no running program trusts"

var (
	errNoAuthorityKey = errors.New("ca.key lacks the key of an authority in ca.crt: put it back, or " + startOver)
	errAuthority      = errors.New("ca.crt and ca.key are no authority: restore them, or " + startOver)
	errTrustDomain    = errors.New("the trust domain must be lower-case letters, digits, dots, dashes and underscores")
	errLife           = errors.New("a certificate cannot live longer than its authority, 3650 days")
)

// authority returns the authority that signs, and whether ca.crt was changed. It makes an authority if there is none, makes the
// successor of one in its last year, and removes one that has expired.
func (c Certificates) authority(now time.Time) (signer *authority.Authority, changed bool, err error) {
	known, err := c.authorities()
	if err != nil {
		return nil, false, err
	}
	all := slices.DeleteFunc(slices.Clone(known), func(a *authority.Authority) bool { return !now.Before(a.Until()) })
	if len(all) == 0 || all[len(all)-1].Until().Sub(now) <= AuthorityRenewal {
		made, err := authority.New(c.Authority, now.Add(-time.Hour), now.Add(AuthorityLife))
		if err != nil {
			return nil, false, err
		}
		all = append(all, made)
	}
	signer = all[0]
	for _, successor := range all[1:] {
		if now.Sub(successor.From()) >= AuthorityOverlap || signer.Until().Sub(now) < AuthorityOverlap {
			signer = successor
		}
	}
	if slices.Equal(all, known) {
		return signer, false, nil
	}
	var files authority.Pair
	for _, a := range all {
		files.Cert, files.Key = append(files.Cert, a.Cert...), append(files.Key, a.Key...)
	}
	return signer, true, c.write(AuthorityName, files)
}

// authorities reads the authorities, the oldest first. Those that cannot be read are never replaced: their keys may be elsewhere,
// and programs trust them.
func (c Certificates) authorities() (all []*authority.Authority, err error) {
	files, err := c.read(AuthorityName)
	certs, keys := blocks(files.Cert, "CERTIFICATE"), blocks(files.Key, "PRIVATE KEY")
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && len(files.Cert)+len(files.Key) == 0:
		return nil, nil
	case err != nil && !missing, len(certs) == 0, len(keys) == 0 && len(files.Key) > 0:
		return nil, errors.Join(errAuthority, err)
	case len(keys) < len(certs):
		return nil, errNoAuthorityKey
	}
	for i, cert := range certs {
		a, err := authority.Parse(authority.Pair{Cert: cert, Key: keys[i]})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errAuthority, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// blocks returns the PEM blocks of a file whose types end with kind.
func blocks(file []byte, kind string) (all [][]byte) {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			all = append(all, pem.EncodeToMemory(block))
		}
	}
	return all
}

// valid reports whether the caller has a certificate that is not near expiry.
func (c Certificates) valid(signer *authority.Authority, name identity.Name, now time.Time) bool {
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
		Roots: roots, CurrentTime: now.Add(c.Life / renewalDivisor), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	found, unnamed := identity.Of(read.Leaf, c.TrustDomain)
	return err == nil && unnamed == nil && found == name
}

func (c Certificates) issue(signer *authority.Authority, name identity.Name, now time.Time) error {
	until := now.Add(c.Life)
	if signer.Until().Before(until) {
		until = signer.Until() // So that the alert on certificates fires in time.
	}
	pair, err := signer.Issue(authority.Request{
		URIs: []string{name.URI(c.TrustDomain)}, Hosts: []string{"localhost", "127.0.0.1"}, From: now.Add(-time.Hour), Until: until,
	})
	if err != nil {
		return err
	}
	return c.write(name, pair)
}
