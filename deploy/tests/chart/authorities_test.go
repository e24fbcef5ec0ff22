//go:build manifests

package chart_test

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// handshakes accepts TLS connections with a certificate of the authority and reports how each handshake ended. Like PostgreSQL
// it answers a client that asks for TLS first.
func handshakes(t *testing.T, signer *authority.Authority) (string, <-chan error) {
	t.Helper()
	now := time.Now()
	pair, err := signer.Issue(authority.Request{Hosts: []string{"127.0.0.1"}, From: now.Add(-time.Hour), Until: now.Add(time.Hour)})
	require.NoError(t, err)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	results := make(chan error, 100)
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			results <- handshake(conn, cfg)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String(), results
}

// first is a connection of which one byte was read.
type first struct {
	net.Conn
	io.Reader
}

func (f first) Read(into []byte) (int, error) { return f.Reader.Read(into) }

func handshake(conn net.Conn, cfg *tls.Config) error {
	const requestLength = 8 // PostgreSQL's SSLRequest: its length, then its code. A TLS record begins with 22.
	begin := make([]byte, 1)
	if _, err := io.ReadFull(conn, begin); err != nil {
		return err
	}
	rest := first{conn, io.MultiReader(strings.NewReader(string(begin)), conn)}
	if begin[0] == 0 {
		if _, err := io.ReadFull(rest, make([]byte, requestLength)); err != nil {
			return err
		}
		if _, err := conn.Write([]byte("S")); err != nil {
			return err
		}
	}
	return tls.Server(rest, cfg).Handshake()
}

// variables that tell the process which the test starts what to reach.
const (
	clientVariable = "CHART_TEST_CLIENT"
	serverVariable = "CHART_TEST_SERVER"
)

// clients reach a server over TLS, each as the programs do. What they get after the handshake does not matter.
var clients = map[string]func(t *testing.T, address string){
	"postgresql": func(t *testing.T, address string) {
		t.Helper()
		env := map[string]string{}
		for variable, value := range secrets {
			env[variable] = value
		}
		env["GIFTING_DATABASE_URL"] = "postgres://orders@" + address + "/orders?sslmode=verify-full"
		env["GIFTING_GRPC_ADDR"], env["GIFTING_TENANTS_ADDR"], env["GIFTING_CATALOG_ADDR"] = ":9000", "tenants:9000", "catalog:9000"
		env["GIFTING_ENVIRONMENT"] = "sandbox"
		require.Error(t, programs.Named(identity.Orders).Migrate(t.Context(), env))
	},
	"redis": func(t *testing.T, address string) {
		t.Helper()
		client, err := redisconn.Open("rediss://"+address, telemetry.Discard())
		require.NoError(t, err)
		require.Error(t, client.Ping(t.Context()).Err())
	},
	"kafka": func(t *testing.T, address string) {
		t.Helper()
		cfg := kafka.Config{Brokers: []string{address}, TLS: kafka.TLSConfig{Enabled: true}}
		_, err := kafka.CheckTopic(t.Context(), cfg, kafka.TopicSettings{Name: "any"})
		require.Error(t, err)
	},
	"otlp": func(t *testing.T, address string) {
		t.Helper()
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://"+address)
		t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1000")
		tel, err := telemetry.New(t.Context(), "orders", telemetry.Config{}, io.Discard)
		require.NoError(t, err)
		tel.Logger.Info("any")
		tel.Close(t.Context())
	},
}

// TestAClientOfAServer is the process that TestPrivateAuthoritiesAreTrusted starts: a process reads its authorities once.
func TestAClientOfAServer(t *testing.T) {
	client, found := clients[os.Getenv(clientVariable)]
	if !found {
		t.Skip("runs only as a process of TestPrivateAuthoritiesAreTrusted") // It needs the server of that test.
	}
	client(t, os.Getenv(serverVariable))
}

func TestPrivateAuthoritiesAreTrusted(t *testing.T) {
	t.Parallel()
	now := time.Now()
	newAuthority := func(folder string) *authority.Authority {
		a, err := authority.New("Test", now.Add(-time.Hour), now.Add(time.Hour))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "inline.crt"), a.Cert, 0o600))
		return a
	}
	image, values := t.TempDir(), t.TempDir()
	ofImage, ofValues := newAuthority(image), newAuthority(values)
	// The variable of the chart, with other folders.
	folders := strings.NewReplacer("/etc/ssl/certs", image, "/etc/gifting/authorities", values).Replace(certDir(t))
	for client := range clients {
		for name, tc := range map[string]struct {
			signer  *authority.Authority
			folders string
			trusts  bool
		}{
			"of the values":               {ofValues, folders, true},
			"of the image beside them":    {ofImage, folders, true},
			"but not if they are missing": {ofValues, image, false},
		} {
			t.Run(client+" "+name, func(t *testing.T) {
				t.Parallel()
				address, results := handshakes(t, tc.signer)
				command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAClientOfAServer$") //nolint:gosec // This test.
				command.Env = append(os.Environ(), clientVariable+"="+client, serverVariable+"="+address,
					"SSL_CERT_DIR="+tc.folders, "SSL_CERT_FILE=/none")
				output, err := command.CombinedOutput()
				require.NoError(t, err, string(output))
				select {
				case err := <-results:
					require.Equal(t, tc.trusts, err == nil, "%v", err)
				case <-time.After(10 * time.Second): // The server may end the handshake after the client.
					require.Fail(t, "no connection", string(output))
				}
			})
		}
	}
}

// certDir returns SSL_CERT_DIR of a pod.
func certDir(t *testing.T) string {
	t.Helper()
	for _, v := range templates(render(t, `{"authorities": {"configMap": {"name": "ca"}}}`))["gifting-orders"].Spec.Containers[0].Env {
		if v.Name == "SSL_CERT_DIR" {
			return v.Value
		}
	}
	require.Fail(t, "the pod has no SSL_CERT_DIR")
	return ""
}
