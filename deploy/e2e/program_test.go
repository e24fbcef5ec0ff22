//go:build faults

package e2e_test

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

// Free ports in the span of a stack.
const (
	gatewayPort = 8
	ordersPort  = 9
)

// program is a service in its own process that uses the other services of a stack. It can be killed and started again.
type program struct {
	*process
	path, addr string
	env        []string
	kills      int
}

// newProgram starts one more instance of the named program beside the stack, at the port and with changed settings.
func (s stack) newProgram(t *testing.T, name identity.Name, port int, changes map[string]string) *program {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), dir, "", nil, name))
	p := &program{path: filepath.Join(dir, string(name)), addr: s.addr(port), env: os.Environ()}
	env := maps.Clone(s.Programs[name])
	if name == identity.Gateway {
		delete(env, "GIFTING_GRPC_ADDR") // The gateway of the stack has the port.
	}
	maps.Copy(env, changes)
	env["GIFTING_METRICS_ADDR"] = s.addr(port + programs.MetricsOffset)
	for variable, value := range env {
		p.env = append(p.env, variable+"="+value)
	}
	p.start(t)
	return p
}

// start returns when the program takes connections.
func (p *program) start(t *testing.T) {
	t.Helper()
	p.process = startProcess(t, p.env, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, p.path, "serve")
}

// kill ends the program with SIGKILL and starts it again.
func (p *program) kill(t *testing.T) {
	t.Helper()
	require.Error(t, p.end(t, syscall.SIGKILL))
	p.kills++
	p.start(t)
}
