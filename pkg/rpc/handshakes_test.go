package rpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// loggedHandshake waits for the only line about a handshake in the log.
func loggedHandshake(t *testing.T, log *telemetrytest.Log) string {
	t.Helper()
	var found []string
	require.Eventually(t, func() bool {
		found = slices.DeleteFunc(slices.Collect(strings.Lines(log.String())), func(line string) bool {
			return !strings.Contains(line, "a TLS handshake was refused")
		})
		return len(found) == 1
	}, 30*time.Second, 5*time.Millisecond)
	return found[0]
}

func TestARefusedHandshakeIsLoggedWithItsReason(t *testing.T) {
	t.Parallel()
	ours, theirs := identitytest.New(t), identitytest.New(t)
	expired := identitytest.Request(identity.Gateway)
	expired.From, expired.Until = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	pair, err := ours.Issue(expired)
	require.NoError(t, err)
	expiredCert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	stranger, err := tls.LoadX509KeyPair(files(theirs.Config(t, identity.Gateway)))
	require.NoError(t, err)
	for reason, attempt := range map[string]func(conn net.Conn){
		reasonPlainText:    func(conn net.Conn) { _, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")) },
		reasonDisconnected: func(conn net.Conn) { _ = conn.Close() },
		reasonExpired:      func(conn net.Conn) { _ = handshake(conn, true, expiredCert) },
		reasonAuthority:    func(conn net.Conn) { _ = handshake(conn, true, stranger) },
		reasonRejected:     func(conn net.Conn) { _ = handshake(conn, false) },
		reasonOther:        func(conn net.Conn) { _ = handshake(conn, true) }, // Without a certificate.
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			tel, log := telemetry.Discard(), &telemetrytest.Log{}
			tel.Logger = slog.New(slog.NewJSONHandler(log, nil))
			server, err := NewServer(Config{TLS: ours.Config(t, identity.Orders)}, tel)
			require.NoError(t, err)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", serve(t, server))
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			attempt(conn)
			found := loggedHandshake(t, log)
			require.Contains(t, found, `"reason":"`+reason+`"`)
			require.Contains(t, found, `"peer":"127.0.0.1:`)
		})
	}
}

func TestALogLineOfAHandshakeIsBounded(t *testing.T) {
	t.Parallel()
	authority, tel, log := identitytest.New(t), telemetry.Discard(), &telemetrytest.Log{}
	tel.Logger = slog.New(slog.NewJSONHandler(log, nil))
	server, err := NewServer(Config{TLS: authority.Config(t, identity.Orders)}, tel)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", serve(t, server))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	protocols := slices.Repeat([]string{strings.Repeat("\x01", 200)}, 300)
	require.Error(t, tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}).HandshakeContext(t.Context()))
	found := loggedHandshake(t, log)
	require.Contains(t, found, "application protocols")
	require.Less(t, len(found), 1000)
}

func files(cfg identity.Config) (cert, key string) { return cfg.CertFile, cfg.KeyFile }

// handshake begins TLS as a client with the certificates, and reads until the server ends the connection.
func handshake(conn net.Conn, trusting bool, certificates ...tls.Certificate) error {
	client := tls.Client(conn, &tls.Config{
		InsecureSkipVerify: trusting, ServerName: "localhost", Certificates: certificates, NextProtos: []string{"h2"},
	})
	if err := client.HandshakeContext(context.Background()); err != nil {
		return err
	}
	_, err := client.Read(make([]byte, 1))
	return err
}

func TestALogOfHandshakesSaysWhatItLeftOut(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := newHandshakes(slog.New(slog.DiscardHandler), func() time.Time { return now })
	for i := range 5 {
		_, ok := h.logged.due(reasonTimeout)
		require.Equal(t, i == 0, ok)
	}
	_, ok := h.logged.due(reasonExpired)
	require.True(t, ok, "each reason is logged for itself")
	now = now.Add(handshakeLogInterval)
	skipped, ok := h.logged.due(reasonTimeout)
	require.True(t, ok)
	require.Equal(t, 4, skipped)
}
