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

func (p *platform) addr(offset int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.config.PortBase+offset))
}

// newOrders starts one more orders service on the stack's database.
func (p *platform) newOrders(t *testing.T) *program {
	t.Helper()
	database := strings.Replace(p.config.PostgresURL, "/postgres?", "/"+p.config.Name+"_orders?", 1)
	require.NotEqual(t, p.config.PostgresURL, database)
	return newProgram(t, "services/orders/cmd/orders", p.addr(ordersPort), p.identified(identity.Orders, map[string]string{
		"GRPC_ADDR": p.addr(ordersPort), "METRICS_ADDR": p.addr(ordersPort + metricsAbove), "DATABASE_URL": database,
		"TENANTS_ADDR": p.env["GIFTING_GRPC_TENANTS"], "CATALOG_ADDR": p.env["GIFTING_GRPC_CATALOG"],
		"SEAL_KEYS": p.secret(t, "ordersSealKeys"),
	}))
}

// newGateway starts one more gateway, in front of the orders service.
func (p *platform) newGateway(t *testing.T, orders *program) *program {
	t.Helper()
	return newProgram(t, "gateway/cmd/gateway", p.addr(gatewayPort), p.identified(identity.Gateway, map[string]string{
		"HTTP_ADDR": p.addr(gatewayPort), "METRICS_ADDR": p.addr(gatewayPort + metricsAbove), "PUBLIC_URL": p.env["GIFTING_URL"],
		"TENANTS_ADDR": p.env["GIFTING_GRPC_TENANTS"], "CATALOG_ADDR": p.env["GIFTING_GRPC_CATALOG"], "ORDERS_ADDR": orders.addr,
		"PERSONAL_LINKS_ADDR": p.env["GIFTING_GRPC_LINKS"], "EVENTS_ADDR": p.env["GIFTING_GRPC_EVENTS"],
		"WEBHOOK_ADDR": p.env["GIFTING_GRPC_WEBHOOK"], "REDIS_URL": p.config.RedisURL, "FINGERPRINT_KEY": p.secret(t, "fingerprintKey"),
	}))
}

// identified adds the certificate of the name to the variables of a program.
func (p *platform) identified(name identity.Name, variables map[string]string) map[string]string {
	of := local.Identity(p.env, name)
	variables["TLS_CERT_FILE"], variables["TLS_KEY_FILE"], variables["TLS_CA_FILE"] = of.CertFile, of.KeyFile, of.CAFile
	return variables
}

// secret is one that the stack made up for itself.
func (p *platform) secret(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.config.Dir, local.SecretsFile))
	require.NoError(t, err)
	var secrets map[string]string
	require.NoError(t, json.Unmarshal(raw, &secrets))
	require.NotEmpty(t, secrets[name])
	return secrets[name]
}
