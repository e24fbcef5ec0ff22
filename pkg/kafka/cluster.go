package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/sasl"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// cluster makes the connections to the brokers of a Config: all of this package are made by its dial.
//
// It secures them itself, with TLS and a login, and does not leave that to the library. The library waits for the answers of a
// login without a deadline, so one broker that hangs would stop a consumer forever; and its errors name neither broker nor user.
type cluster struct {
	Config

	// files are nil without TLS, mechanism is nil without a login.
	files     *identity.CertFiles[*material]
	mechanism sasl.Mechanism
}

// dialTimeout bounds the making of a connection, with TLS and login.
const dialTimeout = 3 * time.Second

// newCluster checks the configuration and reads its certificate files. It does not connect.
func newCluster(cfg Config, tel *telemetry.Telemetry) (*cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &cluster{Config: cfg}
	var err error
	if c.mechanism, err = cfg.SASL.mechanism(); err != nil {
		return nil, fmt.Errorf("kafka: login: %w", err)
	}
	if !cfg.TLS.Enabled {
		return c, nil
	}
	if c.files, err = identity.OpenCertFiles(cfg.TLS.paths(), cfg.TLS.read, time.Now, tel.Logger); err != nil {
		return nil, fmt.Errorf("kafka: TLS: %w", err)
	}
	return c, c.measureCertificate(tel)
}

// measureCertificate reports when the client's certificate expires, if there is one.
func (c *cluster) measureCertificate(tel *telemetry.Telemetry) error {
	if c.TLS.CertFile == "" {
		return nil
	}
	// The label keeps it apart from the certificate that the program shows to other programs.
	label := metric.WithAttributes(attribute.String("server", "kafka"))
	_, err := tel.Meters.Meter(scope).Float64ObservableGauge("gifting.certificate.not_after", metric.WithUnit("s"),
		metric.WithDescription("When the certificate in use expires, in seconds since 1970."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(float64(c.files.Current().Until().Unix()), label)
			return nil
		}))
	return err
}

func (c *cluster) address() net.Addr { return kafkago.TCP(c.Brokers...) }

// transport makes connections that know about one topic and no other.
func (c *cluster) transport(topic string) *kafkago.Transport {
	return &kafkago.Transport{
		Dial:           c.dial,
		ClientID:       c.ClientID,
		DialTimeout:    dialTimeout,
		MetadataTTL:    metadataAge,
		MetadataTopics: []string{topic},
	}
}

// dial connects to a broker. What it returns is encrypted and logged in, as far as the configuration says so.
func (c *cluster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil || c.files == nil && c.mechanism == nil {
		return conn, err
	}
	secured, err := c.secure(ctx, conn, address)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("kafka: broker %s: %w", address, err)
	}
	return secured, nil
}

func (c *cluster) secure(ctx context.Context, raw net.Conn, address string) (net.Conn, error) {
	conn := raw
	if c.files != nil {
		secured := tls.Client(raw, c.tlsTo(address))
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("TLS: %w", explain(err, "its listener may have no TLS"))
		}
		conn = secured
	}
	// Closing is what interrupts a request whose answer does not come.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	err := c.negotiate(ctx, conn)
	if !stop() {
		err = errors.Join(context.Cause(ctx), err)
	}
	return conn, err
}

// explain adds what may be behind a connection that the broker has closed without a word.
func explain(err error, hint string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the broker closed the connection, %s: %w", hint, err)
	}
	return err
}

// tlsTo is the TLS configuration for one connection, with what the files hold now.
func (c *cluster) tlsTo(address string) *tls.Config {
	host, _, _ := net.SplitHostPort(address)
	held := c.files.Current()
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    held.roots,
		ServerName: cmp.Or(c.TLS.ServerName, host),
	}
	if held.certificate != nil {
		// Sent even if the broker does not list its authority: then the broker says what is wrong with it.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return held.certificate, nil }
	}
	return cfg
}

// negotiate requests the broker's versions and logs in. A broker that refuses the client's certificate closes the connection
// instead of answering the first request.
func (c *cluster) negotiate(ctx context.Context, conn net.Conn) error {
	broker := protocol.NewConn(conn, c.ClientID)
	answer, err := broker.RoundTrip(new(apiversions.Request))
	if err != nil {
		return explain(err, "its listener may need TLS or a client certificate")
	}
	versions := map[protocol.ApiKey]int16{}
	for _, r := range answer.(*apiversions.Response).ApiKeys {
		key := protocol.ApiKey(r.ApiKey)
		versions[key] = key.SelectVersion(r.MinVersion, r.MaxVersion)
	}
	broker.SetVersions(versions)
	if c.mechanism == nil {
		return nil
	}
	if err := logIn(ctx, broker, c.mechanism); err != nil {
		return fmt.Errorf("login of user %q with %s: %w", c.SASL.User, c.mechanism.Name(), err)
	}
	return nil
}

func logIn(ctx context.Context, broker *protocol.Conn, mechanism sasl.Mechanism) error {
	answer, err := broker.RoundTrip(&saslhandshake.Request{Mechanism: mechanism.Name()})
	if err != nil {
		return explain(err, "its listener may have no login")
	}
	if res := answer.(*saslhandshake.Response); res.ErrorCode != 0 {
		return fmt.Errorf("%w, but %v", kafkago.Error(res.ErrorCode), res.Mechanisms)
	}
	exchange, state, err := mechanism.Start(ctx)
	for done := false; err == nil && !done; {
		if answer, err = broker.RoundTrip(&saslauthenticate.Request{AuthBytes: state}); err != nil {
			return explain(err, "as some do after a wrong password")
		}
		res := answer.(*saslauthenticate.Response)
		if res.ErrorCode != 0 {
			return fmt.Errorf("%w: %s", kafkago.Error(res.ErrorCode), res.ErrorMessage)
		}
		done, state, err = exchange.Next(ctx, res.AuthBytes)
	}
	return err
}

// material is what the files of TLS hold.
type material struct {
	// roots are nil for those of the operating system, certificate is nil without a client certificate.
	roots       *x509.CertPool
	certificate *tls.Certificate
}

// Until implements identity.CertContents.
func (m *material) Until() time.Time {
	if m.certificate == nil {
		return time.Time{}
	}
	return m.certificate.Leaf.NotAfter
}

// paths are the files that exist.
func (t TLSConfig) paths() []string {
	var paths []string
	for _, path := range []string{t.CertFile, t.KeyFile, t.CAFile} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func (t TLSConfig) read() (*material, error) {
	held := &material{}
	var err error
	if t.CertFile != "" {
		if held.certificate, err = identity.Certificate(t.CertFile, t.KeyFile, time.Now()); err != nil {
			return nil, err
		}
	}
	if t.CAFile != "" {
		held.roots, err = identity.Authorities(t.CAFile)
	}
	return held, err
}
