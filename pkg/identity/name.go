// Package identity says who a process is and whom it talks to: mutual TLS between all parts of the platform.
//
// A part's name is the one URI SAN of its certificate, spiffe://<trust domain>/<name>. A
// server takes only clients whose certificate its authorities signed and that carry such a name; a
// client takes only the server it means: a certificate of catalog does not pass for orders. Host
// names are not looked at. What a name may do is not decided here.
//
// The files of certificate, key and authorities are read again after they have changed, without a restart, for every
// connection made from then on. New files that do not fit are left alone until they do, and the log says so. Sessions
// are never resumed, so every connection is checked against the files of its time.
package identity

import (
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/partnergifting/platform/pkg/settings"
)

// Name of a part of the platform or of a team's system that calls it.
type Name string

// The parts of the platform.
const (
	Gateway       Name = "gateway"
	Tenants       Name = "tenants"
	Catalog       Name = "catalog"
	Orders        Name = "orders"
	PersonalLinks Name = "personal-links"
	Events        Name = "events"
	Webhook       Name = "webhook"
)

// Those who call it from outside.
const (
	// Workspace is where a tenant's team and clients work.
	Workspace Name = "workspace"
	// Backoffice is where the service operator's team works.
	Backoffice Name = "backoffice"
	// Operator sets the platform up and keeps it running: people on call and their programs.
	Operator Name = "operator"
)

// Names are all of them.
func Names() []Name {
	return []Name{
		Gateway, Tenants, Catalog, Orders, PersonalLinks, Events, Webhook,
		Workspace, Backoffice, Operator,
	}
}

const scheme = "spiffe://"

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	domainForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,254}$`)

	errIdentity = errors.New("the certificate names no identity")
)

// URI is how a certificate spells the name.
func (n Name) URI(trustDomain string) string { return scheme + trustDomain + "/" + string(n) }

// Of reads the name in a certificate, which must have one URI SAN and no more.
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

// Config names the files of a process. All three empty: it has no identity, and its calls are in plain text.
type Config struct {
	CertFile    string `env:"CERT_FILE" doc:"PEM file of the certificate, followed by its intermediates. Without the three files gRPC is in plain text, on loopback only."`
	KeyFile     string `env:"KEY_FILE" doc:"PEM file of the certificate's private key."`
	CAFile      string `env:"CA_FILE" doc:"PEM file of the authorities that sign the certificates of all parts."`
	TrustDomain string `env:"TRUST_DOMAIN" envDefault:"partner-gifting" doc:"Host of the identity in a certificate, spiffe://<trust domain>/<name>."`
}

var (
	errPartial = errors.New("is not set, and transport security needs all of certificate, key and authorities")
	errDomain  = errors.New("is not made of lower-case letters, digits, dots, dashes and underscores")
)

// Secure says whether the process has an identity.
func (c Config) Secure() bool { return c.CertFile != "" && c.KeyFile != "" && c.CAFile != "" }

// Validate refuses settings that name some of the files and not the others. It implements the check
// of package settings.
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
