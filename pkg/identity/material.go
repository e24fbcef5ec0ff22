package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// material is what the files held when they were read.
type material struct {
	certificate *tls.Certificate
	roots       *x509.CertPool
	// server is the configuration of the connections that clients make from now on.
	server *tls.Config
}

var (
	errAuthorities = errors.New("the file of authorities holds no certificate")
	errExpired     = errors.New("the certificate is not valid now")
)

func (f *Files) read() (*material, error) {
	certificate, err := tls.LoadX509KeyPair(f.cfg.CertFile, f.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate and key: %w", err)
	}
	leaf := certificate.Leaf
	if _, err := Of(leaf, f.cfg.TrustDomain); err != nil {
		return nil, err
	}
	if now := f.clock(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, fmt.Errorf("%w: from %s to %s", errExpired, leaf.NotBefore.Format(time.RFC3339), leaf.NotAfter.Format(time.RFC3339))
	}
	authorities, err := os.ReadFile(f.cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	m := &material{certificate: &certificate, roots: x509.NewCertPool()}
	if !m.roots.AppendCertsFromPEM(authorities) {
		return nil, errAuthorities
	}
	m.server = f.serverConfig(m)
	return m, nil
}

func (f *Files) serverConfig(m *material) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{*m.certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    m.roots,
		Time:         f.clock,
		// A resumed session would be taken on the word of files that have been replaced.
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := f.Peer(state)
			return err
		},
	}
}
