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
	errAuthorities = errors.New("the file of authorities holds no certificate")
	errExpired     = errors.New("the certificate is not valid now")
)

// Certificate reads a certificate, which must be valid at the time, and its private key from PEM files.
func Certificate(certFile, keyFile string, now time.Time) (*tls.Certificate, error) {
	read, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate and key: %w", err)
	}
	if from, until := read.Leaf.NotBefore, read.Leaf.NotAfter; now.Before(from) || now.After(until) {
		return nil, fmt.Errorf("%w: from %s to %s", errExpired, from.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return &read, nil
}

// Authorities reads the certificates of authorities from a PEM file.
func Authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path) //nolint:gosec // A path of the configuration.
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errAuthorities
	}
	return pool, nil
}
