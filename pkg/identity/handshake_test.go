package identity_test

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
)

func open(t *testing.T, cfg identity.Config) *identity.Files {
	t.Helper()
	files, err := identity.Open(cfg, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return files
}

// meet lets a client and a server shake hands and say a word each, and returns the error of each.
func meet(t *testing.T, client, server *tls.Config) (atClient, atServer error) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = exchange(tls.Server(conn, server))
		}
		served <- err
	}()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	return exchange(tls.Client(conn, client)), <-served
}

// exchange also reads: with TLS 1.3 a client learns only then whether it was accepted.
func exchange(conn *tls.Conn) error {
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte{1}); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err
}

func TestProgramsThatTrustEachOtherConnect(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	orders, gateway := open(t, signer.Config(t, identity.Orders)), open(t, signer.Config(t, identity.Gateway))
	var peer identity.Name
	server := orders.Server()
	server.GetConfigForClient = watch(server.GetConfigForClient, func(state tls.ConnectionState) (err error) {
		require.Equal(t, uint16(tls.VersionTLS13), state.Version)
		peer, err = orders.Peer(state)
		return err
	})
	atClient, atServer := meet(t, gateway.Client(identity.Orders), server)
	require.NoError(t, atClient)
	require.NoError(t, atServer)
	require.Equal(t, identity.Gateway, peer)
}

type forClient func(*tls.ClientHelloInfo) (*tls.Config, error)

// watch sees the connection after the checks of the server.
func watch(inner forClient, see func(tls.ConnectionState) error) forClient {
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		cfg, err := inner(hello)
		if err != nil {
			return nil, err
		}
		cfg = cfg.Clone()
		check := cfg.VerifyConnection
		cfg.VerifyConnection = func(state tls.ConnectionState) error {
			if err := check(state); err != nil {
				return err
			}
			return see(state)
		}
		return cfg, nil
	}
}

// clientOf is a client with the certificate of r, which trusts every server.
func clientOf(t *testing.T, signer identitytest.Authority, r authority.Request) *tls.Config {
	t.Helper()
	pair, err := signer.Issue(r)
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	return &tls.Config{
		InsecureSkipVerify:   true,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil },
	}
}

func TestAServerRefuses(t *testing.T) {
	t.Parallel()
	signer, stranger := identitytest.New(t), identitytest.New(t)
	server := open(t, signer.Config(t, identity.Orders)).Server()
	good := func(change func(r *authority.Request)) authority.Request {
		r := identitytest.Request(identity.Gateway)
		change(&r)
		return r
	}
	t.Run("a client without a known identity", func(t *testing.T) {
		atClient, atServer := meet(t, clientOf(t, signer, good(func(*authority.Request) {})), server)
		require.NoError(t, atClient)
		require.NoError(t, atServer)
	})
	for name, c := range map[string]struct {
		client *tls.Config
		want   string
	}{
		"no certificate":    {&tls.Config{InsecureSkipVerify: true}, "didn't provide a certificate"},
		"another authority": {clientOf(t, stranger, good(func(*authority.Request) {})), "unknown authority"},
		"an expired one": {
			clientOf(t, signer, good(func(r *authority.Request) { r.Until = time.Now().Add(-time.Second) })), "expired",
		},
		"no URI SAN": {clientOf(t, signer, good(func(r *authority.Request) { r.URIs = nil })), "0 URI SANs"},
		"TLS 1.2":    {&tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}, "unsupported versions"},
	} {
		t.Run(name, func(t *testing.T) {
			atClient, atServer := meet(t, c.client, server)
			require.Error(t, atClient)
			require.ErrorContains(t, atServer, c.want)
		})
	}
}

func TestAClientRefuses(t *testing.T) {
	t.Parallel()
	signer, stranger := identitytest.New(t), identitytest.New(t)
	client := open(t, signer.Config(t, identity.Gateway)).Client(identity.Orders)
	for name, c := range map[string]struct {
		server authority.Request
		signer identitytest.Authority
		want   string
	}{
		"another server":    {identitytest.Request(identity.Catalog), signer, "catalog, not orders"},
		"another authority": {identitytest.Request(identity.Orders), stranger, "unknown authority"},
		"a client's certificate": {func() authority.Request {
			r := identitytest.Request(identity.Orders)
			r.Hosts = nil
			return r
		}(), signer, "incompatible key usage"},
		"an expired one": {func() authority.Request {
			r := identitytest.Request(identity.Orders)
			r.Until = time.Now().Add(-time.Second)
			return r
		}(), signer, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := c.signer.Issue(c.server)
			require.NoError(t, err)
			certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
			require.NoError(t, err)
			atClient, _ := meet(t, client, &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert})
			require.ErrorContains(t, atClient, c.want)
		})
	}
}
