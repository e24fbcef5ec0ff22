package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
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

	name  identity.Name
	grant grant
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
	client := &callerInfo{}
	client.TLSInfo, _ = info.(credentials.TLSInfo) // Without one there is no certificate, and Peer returns an error.
	if client.name, err = c.files.Peer(client.State); err != nil {
		c.handshakes.refused(raw.RemoteAddr(), err)
		_ = conn.Close()
		return nil, nil, err
	}
	client.grant = callers[client.name]
	return conn, client, nil
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
	return []grpc.ServerOption{grpc.Creds(serverCredentials{
		TransportCredentials: credentials.NewTLS(files.Server()), files: files, handshakes: newHandshakes(tel.Logger, time.Now),
	})}, nil
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

// addrs returns the addresses of the list. There may be spaces around them.
func (t Target) addrs() []string {
	addrs := strings.Split(t.Addr, ",")
	for i, addr := range addrs {
		addrs[i] = strings.TrimSpace(addr)
	}
	return addrs
}

func (t Target) credentials(tel *telemetry.Telemetry) (credentials.TransportCredentials, error) {
	if err := t.TLS.Validate(); err != nil {
		return nil, err
	}
	if !t.TLS.Secure() {
		return insecure.NewCredentials(), requireLoopback(t.addrs()...)
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

const (
	// handshakeLogInterval is how often a refused handshake is logged for a reason. Anybody who reaches the port can cause them.
	handshakeLogInterval = 10 * time.Second
	// maxHandshakeError is how many characters of an error are logged: one that names what a client asked for can have 300 KB.
	maxHandshakeError = 256
)

// The reasons why a handshake was refused.
const (
	reasonPlainText    = "plain_text"     // The client does not speak TLS.
	reasonExpired      = "expired"        // The client's certificate is not valid now.
	reasonAuthority    = "authority"      // The client's certificate is of another authority.
	reasonCertificate  = "certificate"    // The client's certificate is unfit otherwise.
	reasonRejected     = "rejected"       // The client does not accept the server's certificate.
	reasonDisconnected = "disconnected"   // The client closed the connection.
	reasonTimeout      = "timeout"        // The client did not finish in time.
	reasonOther        = "not_acceptable" // No certificate, another program's name, an old version of TLS.
)

// handshakes logs the handshakes that a server refused, one per reason and handshakeLogInterval.
type handshakes struct {
	log    *slog.Logger
	logged *logLimit
}

func newHandshakes(log *slog.Logger, clock func() time.Time) *handshakes {
	return &handshakes{log: log, logged: newLogLimit(handshakeLogInterval, clock)}
}

func (h *handshakes) refused(peer net.Addr, err error) {
	reason := handshakeReason(err)
	if skipped, ok := h.logged.due(reason); ok {
		h.log.Warn("a TLS handshake was refused", "peer", peer.String(), "reason", reason,
			"error", fmt.Sprintf("%.*s", maxHandshakeError, err), "not_logged", skipped)
	}
}

func handshakeReason(err error) string {
	if record, ok := errors.AsType[tls.RecordHeaderError](err); ok && record.Conn != nil {
		return reasonPlainText
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return reasonExpired
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return reasonAuthority
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return reasonCertificate
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return reasonRejected
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET):
		return reasonDisconnected
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return reasonTimeout
	}
	return reasonOther
}
