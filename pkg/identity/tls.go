package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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

// Until is when the certificate expires.
func (m *material) Until() time.Time { return m.certificate.Leaf.NotAfter }

func (f *Files) read() (*material, error) {
	certificate, err := Certificate(f.cfg.CertFile, f.cfg.KeyFile, f.clock())
	if err != nil {
		return nil, err
	}
	if _, err := Of(certificate.Leaf, f.cfg.TrustDomain); err != nil {
		return nil, err
	}
	roots, err := Authorities(f.cfg.CAFile)
	if err != nil {
		return nil, err
	}
	m := &material{certificate: certificate, roots: roots}
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
