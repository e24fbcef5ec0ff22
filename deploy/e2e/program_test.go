//go:build faults

package e2e_test

import (
	"context"
	"maps"
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
)

// Ports in the span of a stack that the stack leaves free.
const (
	gatewayPort = 8
	ordersPort  = 9
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

// newProgram starts one more of the named program beside the stack, at the port and with the changes of its settings.
func (s stack) newProgram(t *testing.T, name identity.Name, port int, changes map[string]string) *program {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), dir, "", nil, name))
	p := &program{path: filepath.Join(dir, string(name)), addr: s.addr(port), env: os.Environ()}
	env := maps.Clone(s.Programs[name])
	maps.Copy(env, changes)
	env["GIFTING_METRICS_ADDR"] = s.addr(port + programs.MetricsOffset)
	for variable, value := range env {
		p.env = append(p.env, variable+"="+value)
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

// newOrders starts one more orders service.
func (s stack) newOrders(t *testing.T) *program {
	t.Helper()
	return s.newProgram(t, identity.Orders, ordersPort, map[string]string{"GIFTING_GRPC_ADDR": s.addr(ordersPort)})
}

// newGateway starts one more gateway, in front of the orders service.
func (s stack) newGateway(t *testing.T, orders *program) *program {
	t.Helper()
	return s.newProgram(t, identity.Gateway, gatewayPort, map[string]string{
		"GIFTING_HTTP_ADDR": s.addr(gatewayPort), "GIFTING_ORDERS_ADDR": orders.addr,
	})
}
