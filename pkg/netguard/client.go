// Package netguard makes the HTTP client for URLs that partners choose. Its requests go only to the public internet, never into
// the platform's own network.
//
// The guard is in the dialer: it checks the IP address right before the connection is made, after the name has been resolved.
// So a name that later resolves to another address gains nothing. Addresses in the ranges of this package's table are refused.
// [CheckURL] checks only the text of a URL, so that a partner learns early what cannot work; alone it is no protection.
//
// The client follows no redirect and leaves out the header Location, uses no proxy, speaks TLS 1.2 or later, does not decompress
// bodies, and bounds headers and time. Callers must bound how much of a body they read.
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

// ErrForbiddenAddress means that a connection was refused because of its address. errors.Is finds it in errors of http.Client.
var ErrForbiddenAddress = errors.New("netguard: address is not public")

// ErrURL means that a request was refused because of its scheme.
var ErrURL = errors.New("netguard: URL is not acceptable")

// Options configure a client. The zero value is for production.
type Options struct {
	// Timeout bounds a whole request, body included; 0 means 10 s.
	Timeout time.Duration
	// ConnectTimeout bounds the time until a connection can be used: resolving the name, connecting to its addresses and the
	// TLS handshake, all together; 0 means 3 s.
	ConnectTimeout time.Duration
	// AllowLoopback also allows requests to loopback addresses, over plain HTTP too. It is for a local stack whose receiver
	// runs on the same machine; a program that serves partners must refuse to start with it.
	AllowLoopback bool
	// Resolver resolves names; nil is the system's. Its answers are not trusted.
	Resolver *net.Resolver
	// TLS is the base configuration, for instance with other roots. It may be nil. The minimum version is at least TLS 1.2.
	TLS *tls.Config
}

const (
	defaultTimeout        = 10 * time.Second
	defaultConnectTimeout = 3 * time.Second
	keepAlive             = 30 * time.Second
	idleTimeout           = 60 * time.Second
	pingAfter             = 5 * time.Second
	maxIdleConns          = 1024
	maxIdleConnsPerHost   = 16
	maxHeaderBytes        = 64 << 10
)

// NewClient returns a client that connects to public addresses only.
func NewClient(o Options) *http.Client {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return &http.Client{Timeout: timeout, Transport: &guard{next: o.transport(timeout), options: o}}
}

func (o Options) transport(timeout time.Duration) *http.Transport {
	plain := &net.Dialer{KeepAlive: keepAlive, Resolver: o.Resolver, ControlContext: o.control}
	secure := &tls.Config{}
	if o.TLS != nil {
		secure = o.TLS.Clone()
	}
	secure.MinVersion, secure.NextProtos = max(secure.MinVersion, tls.VersionTLS12), []string{"h2", "http/1.1"}
	connectTimeout := o.ConnectTimeout
	if connectTimeout <= 0 {
		connectTimeout = defaultConnectTimeout
	}
	connectTimeout = min(connectTimeout, timeout)
	return &http.Transport{
		// No proxy, whatever the environment says: a proxy would connect to addresses that the dialer never sees.
		Proxy:                  nil,
		DialContext:            within(connectTimeout, plain.DialContext),
		DialTLSContext:         within(connectTimeout, (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext),
		ResponseHeaderTimeout:  timeout,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    maxIdleConnsPerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// Limits count the bytes that were sent: a small response cannot decompress into a large one.
		DisableCompression: true,
		ForceAttemptHTTP2:  true,
		// Without pings, requests would use a connection whose other end has vanished until the system gives it up, for a quarter of
		// an hour. A server that is busy for as long as a request may take answers no ping meanwhile.
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: timeout},
	}
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// within bounds a dial. The timeouts of net.Dialer and http.Transport would each bound only a part of it.
func within(timeout time.Duration, next dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return next(ctx, network, address)
	}
}

// control checks every address right before the connection.
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

// guard refuses plain HTTP, even if CheckURL was not called, and makes a redirect a response like any other.
type guard struct {
	next    *http.Transport
	options Options
}

// RoundTrip sends the request if its scheme is allowed.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !g.options.schemeAllowed(req.URL) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%w: scheme %q", ErrURL, req.URL.Scheme)
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	// http.Client would follow a Location to a URL that was not checked, and fail without the status if it is not a URL.
	resp.Header.Del("Location")
	return resp, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }
