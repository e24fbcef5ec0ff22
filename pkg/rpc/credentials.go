package rpc

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// callerInfo identifies the client of a connection. It is made once per connection and not changed.
type callerInfo struct {
	credentials.TLSInfo

	name identity.Name
	may  grant
}

// serverCredentials accept clients with a valid certificate.
type serverCredentials struct {
	credentials.TransportCredentials
	files      *identity.Files
	handshakes *handshakes
}

// ServerHandshake implements credentials.TransportCredentials.
func (c serverCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		c.handshakes.refused(raw.RemoteAddr(), err)
		return nil, nil, err
	}
	of := &callerInfo{}
	of.TLSInfo, _ = info.(credentials.TLSInfo) // Without one there is no certificate, and Peer returns an error.
	if of.name, err = c.files.Peer(of.State); err != nil {
		c.handshakes.refused(raw.RemoteAddr(), err)
		_ = conn.Close()
		return nil, nil, err
	}
	of.may = callers[of.name]
	return conn, of, nil
}

// Clone implements credentials.TransportCredentials.
func (c serverCredentials) Clone() credentials.TransportCredentials {
	c.TransportCredentials = c.TransportCredentials.Clone()
	return c
}

// secured returns the options of a server with transport security; without it there are none.
func secured(cfg identity.Config, tel *telemetry.Telemetry) ([]grpc.ServerOption, error) {
	if err := cfg.Validate(); err != nil || !cfg.Secure() {
		return nil, err
	}
	files, err := openIdentity(cfg, tel)
	if err != nil {
		return nil, err
	}
	of := serverCredentials{TransportCredentials: credentials.NewTLS(files.Server()), files: files}
	if of.handshakes, err = newHandshakes(tel, time.Now); err != nil {
		return nil, err
	}
	return []grpc.ServerOption{grpc.Creds(of)}, nil
}

// Target is a service to call.
type Target struct {
	// Addr is host:port, or several of them separated by commas (type instances). A host may be the name of many instances.
	// Without transport security it must be a loopback address.
	Addr string
	// Service is the name in the server's certificate.
	Service identity.Name
	// TLS is the caller's own certificate.
	TLS identity.Config
}

func (t Target) credentials(tel *telemetry.Telemetry) (credentials.TransportCredentials, error) {
	if err := t.TLS.Validate(); err != nil {
		return nil, err
	}
	if !t.TLS.Secure() {
		return insecure.NewCredentials(), requireLoopback(t.Addr)
	}
	files, err := openIdentity(t.TLS, tel)
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(files.Client(t.Service)), nil
}

// openIdentity reads the certificate files of a process and measures when the certificate in use expires.
func openIdentity(cfg identity.Config, tel *telemetry.Telemetry) (*identity.Files, error) {
	files, err := identity.Open(cfg, time.Now, tel.Logger)
	if err != nil {
		return nil, err
	}
	_, err = tel.Meters.Meter(scope).Float64ObservableGauge("gifting.certificate.not_after", metric.WithUnit("s"),
		metric.WithDescription("When the certificate in use expires, in seconds since 1970."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(float64(files.Until().Unix()))
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of the certificate: %w", err)
	}
	return files, nil
}
