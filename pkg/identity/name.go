// Package identity gives every program of the platform an identity: mutual TLS with names in certificates.
//
// A program's name is the only URI SAN of its certificate, spiffe://<trust domain>/<name>. A server accepts only clients with such
// a name in a certificate that its authorities signed, and a client only the server it asked for. Host names are ignored. Changed
// files count for new connections, without a restart, and sessions are never resumed. Package rpc decides what a name may do.
package identity

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/partnergifting/platform/pkg/settings"
)

// Name of a program of the platform, or of a system that calls it.
type Name string

// The programs of the platform.
const (
	Gateway       Name = "gateway"
	Tenants       Name = "tenants"
	Catalog       Name = "catalog"
	Orders        Name = "orders"
	PersonalLinks Name = "personal-links"
	Events        Name = "events"
	Webhook       Name = "webhook"
)

// The callers from outside.
const (
	// Workspace is where a tenant's team and clients work.
	Workspace Name = "workspace"
	// Backoffice is where the service operator's team works.
	Backoffice Name = "backoffice"
	// Operator sets the platform up and keeps it running: people on call and their programs.
	Operator Name = "operator"
)

// HomeCell is the letter of the first cell: the one installation of services that hold records of tenants, or the first of several.
const HomeCell = "a"

// Cell says in which cell a service is. Claim tokens and order references, which live for ever, begin with the letter of the cell
// in which they were made.
type Cell struct {
	Letter string `env:"CELL" envDefault:"a" doc:"Letter of the cell of this service, from a to z. The programs of one cell have the same, and those of another one a different letter."`
}

var errCell = errors.New("is not one letter from a to z")

// String is the letter; without one, it is that of the first cell.
func (c Cell) String() string { return cmp.Or(c.Letter, HomeCell) }

// Wire is how requests name the cell: the first one by no letter, because servers of version 1.0 refuse what they do not know.
func (c Cell) Wire() string {
	if c.Letter == HomeCell {
		return ""
	}
	return c.Letter
}

// Validate implements the check of package settings.
func (c Cell) Validate() error {
	if letter := c.String(); len(letter) != 1 || letter[0] < 'a' || letter[0] > 'z' {
		return settings.Invalid("CELL", errCell)
	}
	return nil
}

// InCells reports whether a program is one that every cell has. The others are once in a platform.
func (n Name) InCells() bool { return n != Tenants && n != Gateway }

// Programs lists the names of the platform's own programs.
func Programs() []Name {
	return []Name{Gateway, Tenants, Catalog, Orders, PersonalLinks, Events, Webhook}
}

// Names lists all names.
func Names() []Name { return append(Programs(), Workspace, Backoffice, Operator) }

const scheme = "spiffe://"

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	domainForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,254}$`)

	errIdentity = errors.New("the certificate names no identity")
)

// URI is how a certificate spells the name.
func (n Name) URI(trustDomain string) string { return scheme + trustDomain + "/" + string(n) }

// Of reads the name in a certificate, which must have exactly one URI SAN.
func Of(cert *x509.Certificate, trustDomain string) (Name, error) {
	if len(cert.URIs) != 1 {
		return "", fmt.Errorf("%w: it has %d URI SANs, not one", errIdentity, len(cert.URIs))
	}
	uri := cert.URIs[0].String()
	name, found := strings.CutPrefix(uri, scheme+trustDomain+"/")
	if !found || !nameForm.MatchString(name) {
		return "", fmt.Errorf("%w: %q is not %s%s/<name>", errIdentity, uri, scheme, trustDomain)
	}
	return Name(name), nil
}

// Config names the files of a process. Without the three files it has no identity and its calls are in plain text.
type Config struct {
	CertFile    string `env:"CERT_FILE" doc:"PEM file of the certificate, followed by its intermediates. Without the three files, gRPC is in plain text and on loopback only."`
	KeyFile     string `env:"KEY_FILE" doc:"PEM file of the certificate's private key."`
	CAFile      string `env:"CA_FILE" doc:"PEM file of the authorities that sign the certificates of all programs."`
	TrustDomain string `env:"TRUST_DOMAIN" envDefault:"partner-gifting" doc:"Trust domain of the identity in a certificate, spiffe://<trust domain>/<name>."`
}

var (
	errPartial = errors.New("is not set, and transport security needs all of certificate, key and authorities")
	errDomain  = errors.New("is not made of lower-case letters, digits, dots, dashes and underscores")
)

// Secure reports whether the process has an identity.
func (c Config) Secure() bool { return c.CertFile != "" && c.KeyFile != "" && c.CAFile != "" }

// Validate refuses settings that name only some of the files. It implements the check of package settings.
func (c Config) Validate() error {
	var errs []error
	none := c.CertFile == "" && c.KeyFile == "" && c.CAFile == ""
	for _, file := range []struct{ setting, value string }{
		{"TLS_CERT_FILE", c.CertFile}, {"TLS_KEY_FILE", c.KeyFile}, {"TLS_CA_FILE", c.CAFile},
	} {
		if file.value == "" && !none {
			errs = append(errs, settings.Invalid(file.setting, errPartial))
		}
	}
	if c.TrustDomain != "" && !domainForm.MatchString(c.TrustDomain) {
		errs = append(errs, settings.Invalid("TLS_TRUST_DOMAIN", errDomain))
	}
	return errors.Join(errs...)
}
