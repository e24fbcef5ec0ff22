// Package netguard makes the HTTP client for addresses that partners choose, so that a request can only go to the
// public internet and never into the platform's own network.
//
// The guard that counts is in the dialler: it looks at the IP address that is about to be connected to, after every
// name has been resolved, so a name that resolves to one address when it is checked and to another when it is used
// gains nothing. An address is reached only if it lies in no range of the table in this package. [CheckURL] looks at
// the text of a URL so that a partner learns early what cannot work; it is no protection by itself.
//
// The client follows no redirect, uses no proxy, speaks TLS 1.2 or later, keeps the body as it was sent (no
// decompression) and bounds headers and time. Callers bound what they read of a body.
package netguard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrForbiddenAddress means that a connection was refused because of the
// address it would have gone to. errors.Is finds it in what http.Client returns.
var ErrForbiddenAddress = errors.New("netguard: address is not public")

// Options shape a client. The zero value is meant for production.
type Options struct {
	// Timeout bounds a whole request, body included: 10 s.
	Timeout time.Duration
	// AllowLoopback lets requests go to loopback addresses, and there over plain HTTP too, and changes nothing else.
	// It is for a local stack whose receiver runs on the same machine; a program that serves partners must refuse to
	// start with it.
	AllowLoopback bool
	// MaxConnsPerHost bounds open connections to one receiver: no bound if 0.
	MaxConnsPerHost int
	// Resolver resolves names; nil is the system's. What it answers is not trusted.
	Resolver *net.Resolver
	// TLS is the configuration to begin with, for own roots. It may be nil.
	// The lowest version is raised to TLS 1.2 if need be.
	TLS *tls.Config
}

const (
	defaultTimeout      = 10 * time.Second
	connectTimeout      = 5 * time.Second
	keepAlive           = 30 * time.Second
	idleTimeout         = 60 * time.Second
	maxIdleConns        = 1024
	maxIdleConnsPerHost = 16
	maxHeaderBytes      = 64 << 10
)

// NewClient returns a client that connects to public addresses only.
func NewClient(o Options) *http.Client {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return &http.Client{
		Timeout:   timeout,
		Transport: &schemeGuard{next: o.transport(timeout), options: o},
		// A redirect is an answer like any other. Following it would send the
		// request to an address that nobody has checked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (o Options) transport(timeout time.Duration) *http.Transport {
	dialer := &net.Dialer{
		Timeout:        min(connectTimeout, timeout),
		KeepAlive:      keepAlive,
		Resolver:       o.Resolver,
		ControlContext: o.control,
	}
	secure := &tls.Config{}
	if o.TLS != nil {
		secure = o.TLS.Clone()
	}
	secure.MinVersion = max(secure.MinVersion, tls.VersionTLS12)
	return &http.Transport{
		// No proxy, whatever the environment says: it would connect for us, to addresses that the dialler never sees.
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        secure,
		TLSHandshakeTimeout:    min(connectTimeout, timeout),
		ResponseHeaderTimeout:  timeout,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    maxIdleConnsPerHost,
		MaxConnsPerHost:        o.MaxConnsPerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// A limit on the body counts the bytes that were sent: a small answer cannot unfold into a large one.
		DisableCompression: true,
		ForceAttemptHTTP2:  true,
	}
}

// control sees every address right before it is connected to.
func (o Options) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: network %s", ErrForbiddenAddress, network)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrForbiddenAddress, address)
	}
	if !o.allowed(target.Addr()) {
		return fmt.Errorf("%w: %s", ErrForbiddenAddress, target.Addr())
	}
	return nil
}

// schemeGuard refuses plain HTTP, which CheckURL has refused before if it was asked.
type schemeGuard struct {
	next    *http.Transport
	options Options
}

// RoundTrip sends the request if its scheme is allowed.
func (g *schemeGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !g.options.schemeAllowed(req.URL) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%w: scheme %q", ErrURL, req.URL.Scheme)
	}
	return g.next.RoundTrip(req)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (g *schemeGuard) CloseIdleConnections() { g.next.CloseIdleConnections() }
