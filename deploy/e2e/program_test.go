//go:build faults

package e2e_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/identity"
)

// Ports in the span of a stack that the stack leaves free. Each program has its metrics metricsAbove its port.
const (
	gatewayPort  = 8
	ordersPort   = 9
	metricsAbove = 10
)

// program is a service in a process of its own, beside a stack whose other services it uses. It can be killed and
// started again.
type program struct {
	path    string
	addr    string
	env     []string
	command *exec.Cmd
	exited  chan error
	kills   int
}

// newProgram builds the command of the package and starts it with the variables, given without their prefix.
func newProgram(t *testing.T, pkg, addr string, variables map[string]string) *program {
	t.Helper()
	p := &program{path: filepath.Join(t.TempDir(), filepath.Base(pkg)), addr: addr, env: os.Environ()}
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.path, "github.com/partnergifting/platform/"+pkg).CombinedOutput()
	require.NoError(t, err, "%s", output)
	for name, value := range variables {
		p.env = append(p.env, "GIFTING_"+name+"="+value)
	}
	p.start(t)
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	return p
}

// start returns when the program takes connections.
func (p *program) start(t *testing.T) {
	t.Helper()
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), p.path, "serve")
	p.command.Env = p.env
	var output strings.Builder
	p.command.Stdout, p.command.Stderr = &output, &output
	p.exited = make(chan error, 1)
	require.NoError(t, p.command.Start())
	go func() { p.exited <- p.command.Wait() }()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(startWithin)
	for {
		if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.addr); err == nil {
			require.NoError(t, conn.Close())
			return
		}
		select {
		case err := <-p.exited:
			require.FailNow(t, "the program ended", "%v\n%s", err, output.String())
		case <-deadline:
			require.FailNow(t, "the program does not get ready")
		case <-ticker.C:
		}
	}
}

// kill ends the program with SIGKILL and starts it again.
func (p *program) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.command.Process.Kill())
	require.Error(t, <-p.exited)
	p.kills++
	p.start(t)
}

func (s stack) addr(offset int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Config.PortBase+offset))
}

// newOrders starts one more orders service on the stack's database.
func (s stack) newOrders(t *testing.T) *program {
	t.Helper()
	return newProgram(t, "services/orders/cmd/orders", s.addr(ordersPort), s.identified(identity.Orders, map[string]string{
		"GRPC_ADDR": s.addr(ordersPort), "METRICS_ADDR": s.addr(ordersPort + metricsAbove), "DATABASE_URL": s.databaseURL(t, "orders"),
		"TENANTS_ADDR": s.Env["GIFTING_GRPC_TENANTS"], "CATALOG_ADDR": s.Env["GIFTING_GRPC_CATALOG"],
		"SEAL_KEYS": s.secret(t, "ordersSealKeys"),
	}))
}

// newGateway starts one more gateway, in front of the orders service.
func (s stack) newGateway(t *testing.T, orders *program) *program {
	t.Helper()
	return newProgram(t, "gateway/cmd/gateway", s.addr(gatewayPort), s.identified(identity.Gateway, map[string]string{
		"HTTP_ADDR": s.addr(gatewayPort), "METRICS_ADDR": s.addr(gatewayPort + metricsAbove), "PUBLIC_URL": s.Env["GIFTING_URL"],
		"TENANTS_ADDR": s.Env["GIFTING_GRPC_TENANTS"], "CATALOG_ADDR": s.Env["GIFTING_GRPC_CATALOG"], "ORDERS_ADDR": orders.addr,
		"PERSONAL_LINKS_ADDR": s.Env["GIFTING_GRPC_LINKS"], "EVENTS_ADDR": s.Env["GIFTING_GRPC_EVENTS"],
		"WEBHOOK_ADDR": s.Env["GIFTING_GRPC_WEBHOOK"], "REDIS_URL": s.Config.RedisURL, "FINGERPRINT_KEY": s.secret(t, "fingerprintKey"),
	}))
}

// identified adds the certificate of the name to the variables of a program.
func (s stack) identified(name identity.Name, variables map[string]string) map[string]string {
	of := local.Identity(s.Env, name)
	variables["TLS_CERT_FILE"], variables["TLS_KEY_FILE"], variables["TLS_CA_FILE"] = of.CertFile, of.KeyFile, of.CAFile
	return variables
}

// secret is one that the stack made up for itself.
func (s stack) secret(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Config.Dir, local.SecretsFile))
	require.NoError(t, err)
	var secrets map[string]string
	require.NoError(t, json.Unmarshal(raw, &secrets))
	require.NotEmpty(t, secrets[name])
	return secrets[name]
}
