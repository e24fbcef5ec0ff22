package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

var (
	errNoCertificate = errors.New("the peer shows no certificate")
	errOtherServer   = errors.New("another server answers")
)

// Server is the TLS configuration of a server that requires client certificates.
func (f *Files) Server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current().server, nil },
	}
}

// Client is the TLS configuration of a client of the named server.
func (f *Files) Client(server Name) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// VerifyConnection checks authority and identity; the standard check would need a host name.
		InsecureSkipVerify: true, //nolint:gosec // See VerifyConnection.
		VerifyConnection:   func(state tls.ConnectionState) error { return f.verifyServer(state, server) },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return f.current().certificate, nil
		},
	}
}

// Peer returns the name of a verified connection's other end.
func (f *Files) Peer(state tls.ConnectionState) (Name, error) {
	if len(state.PeerCertificates) == 0 {
		return "", errNoCertificate
	}
	return Of(state.PeerCertificates[0], f.cfg.TrustDomain)
}

func (f *Files) verifyServer(state tls.ConnectionState, want Name) error {
	name, err := f.Peer(state)
	if err != nil {
		return err
	}
	intermediates := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		intermediates.AddCert(c)
	}
	if _, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: f.current().roots, Intermediates: intermediates, CurrentTime: f.clock(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}); err != nil {
		return err
	}
	if name != want {
		return fmt.Errorf("%w: %s, not %s", errOtherServer, name, want)
	}
	return nil
}

// material is the content of the files.
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
		// A resumed session would rely on files that have been replaced.
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := f.Peer(state)
			return err
		},
	}
}
