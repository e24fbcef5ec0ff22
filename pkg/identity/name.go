package identity

import (
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"
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
