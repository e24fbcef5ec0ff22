package identity

import (
	"errors"

	"github.com/partnergifting/platform/pkg/settings"
)

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
