// Package authority is a minimal certificate authority for the local stack and for tests. In production a real authority signs
// the certificates.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

// Pair is a certificate and its private key, in PEM.
type Pair struct {
	Cert, Key []byte
}

// Authority signs certificates.
type Authority struct {
	Pair

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var errKey = errors.New("the authority's key is not an ECDSA key")

const serialBits = 127

// New makes an authority with the name.
func New(name string, from, until time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	pair, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return Parse(pair)
}

// Parse reads the certificate and key of an authority.
func Parse(p Pair) (*Authority, error) {
	read, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	key, ok := read.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errKey
	}
	return &Authority{Pair: p, cert: read.Leaf, key: key}, nil
}

// From is when the authority's certificate begins to be valid.
func (a *Authority) From() time.Time { return a.cert.NotBefore }

// Until is when the authority's certificate expires.
func (a *Authority) Until() time.Time { return a.cert.NotAfter }

// Request is what a certificate says.
type Request struct {
	// Name is the common name, which may be empty.
	Name string
	// URIs hold the identity.
	URIs []string
	// Hosts are the addresses and names of a server; without one the certificate is a client's only.
	Hosts       []string
	From, Until time.Time
}

// Issue makes a certificate.
func (a *Authority) Issue(r Request) (Pair, error) {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: r.Name},
		NotBefore: r.From, NotAfter: r.Until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, text := range r.URIs {
		uri, err := url.Parse(text)
		if err != nil {
			return Pair{}, fmt.Errorf("identity: %w", err)
		}
		template.URIs = append(template.URIs, uri)
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(r.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	return sign(template, a.cert, a.key, key)
}

// sign makes a certificate for the key own, signed with the key by.
func sign(template, parent *x509.Certificate, by, own *ecdsa.PrivateKey) (Pair, error) {
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return Pair{}, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, by)
	if err != nil {
		return Pair{}, fmt.Errorf("sign: %w", err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}, nil
}
