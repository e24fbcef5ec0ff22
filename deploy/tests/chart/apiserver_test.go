//go:build manifests && apiserver

package chart_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/partnergifting/platform/deploy/local/deps"
)

const (
	startsWithin = time.Minute
	// endsWithin is how long a server may take to quit before it is killed.
	endsWithin = 10 * time.Second
)

// startAPIServer starts etcd and kube-apiserver on loopback ports. There is no controller, scheduler or kubelet: objects are
// validated, admitted and stored, and nothing acts on them.
func startAPIServer(t *testing.T) *rest.Config {
	t.Helper()
	dir := t.TempDir()
	first, err := deps.FreeRow(t.Context(), 3)
	require.NoError(t, err)
	address := func(at int) string { return fmt.Sprintf("http://127.0.0.1:%d", first+at) }
	token := rand.Text()
	tokens, accountKey := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "accounts.key")
	certificates := filepath.Join(dir, "certificates")
	require.NoError(t, os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600))
	writeKey(t, accountKey)

	startServer(t, dir, "etcd", "--data-dir="+filepath.Join(dir, "etcd"),
		"--listen-client-urls="+address(0), "--advertise-client-urls="+address(0),
		"--listen-peer-urls="+address(1), "--initial-advertise-peer-urls="+address(1), "--initial-cluster=default="+address(1))
	startServer(t, dir, "kube-apiserver", "--etcd-servers="+address(0),
		fmt.Sprintf("--secure-port=%d", first+2), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", "--cert-dir="+certificates, "--token-auth-file="+tokens,
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+accountKey,
		"--service-account-signing-key-file="+accountKey)

	config := &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", first+2), BearerToken: token, QPS: -1, Timeout: time.Minute,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(certificates, "apiserver.crt")},
	}
	require.Eventually(t, func() bool {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		return err == nil && client.RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error() == nil
	}, startsWithin, 100*time.Millisecond, "the API server does not become ready")
	return config
}

// startServer starts a program of PATH. It ends with the test, before the programs that were started earlier; its log is shown if
// the test failed.
func startServer(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err, "run `make chart-apply`, which provides it")
	log, err := os.Create(filepath.Join(dir, program+".log"))
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, path, args...)
	command.Dir, command.Stdout, command.Stderr = dir, log, log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = endsWithin
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		end()
		_ = command.Wait() // It was told to end, which is an error for Wait.
		text, err := os.ReadFile(log.Name())
		if err == nil && t.Failed() {
			t.Logf("the end of the log of %s:\n%s", program, text[max(0, len(text)-4000):])
		}
		_ = log.Close()
	})
}

// writeKey writes the key that signs tokens of service accounts. Nothing here asks for one, but the server requires it.
func writeKey(t *testing.T, path string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600))
}
