package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

var (
	errNoCertificate = errors.New("the peer shows no certificate")
	errOtherServer   = errors.New("another server answers")
)

// Server is the configuration of a server that takes nobody without a certificate.
func (f *Files) Server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current().server, nil },
	}
}

// Client is the configuration of a client of the named server.
func (f *Files) Client(server Name) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Verified below: by authority and identity, where the standard way wants a host name.
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
