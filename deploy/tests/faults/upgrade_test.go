//go:build faults

package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// mix says which instances run this version, while the others run the last release.
type mix struct {
	name  string
	newer func(i *instance) bool
}

// mixes are the states of upgrades in different orders, of one that is taken back, and of one after that.
func mixes() []mix {
	all := func(*instance) bool { return true }
	none := func(*instance) bool { return false }
	gateway := func(i *instance) bool { return i.program.Name == identity.Gateway }
	return []mix{
		{"the release", none},
		{"gateways first", gateway},
		{"gateways last", func(i *instance) bool { return !gateway(i) }},
		{"relay and readers first", func(i *instance) bool {
			return i.program.Name == identity.Events || i.program.Name == identity.Webhook
		}},
		{"one instance of each", func(i *instance) bool { return strings.HasSuffix(i.name, "-1") }},
		{"this version", all},
		{"back to the release", none},
		{"this version again", all},
	}
}

// TestUpgradeKeepsTheRequirements brings a platform into each mix of this version and the last release, one after another on the
// same data, and checks the requirements of the release in each. Of two instances one ends in order and the other is killed.
func TestUpgradeKeepsTheRequirements(t *testing.T) {
	newer, requirements := buildPrograms(t, "", nil), root(t)
	older := newer
	if sources := previousSources(t); sources != "" {
		older, requirements = buildPrograms(t, sources, nil), sources
	}
	d := newDeployment(t, options{binaries: older, direct: true, logs: newReport(t, 0).dir})
	for _, i := range d.instances {
		i.awaitReady(t)
	}
	for _, m := range mixes() {
		ok := t.Run(m.name, func(t *testing.T) {
			for n, i := range d.instances {
				folder := older
				if m.newer(i) {
					folder = newer
				}
				i.replace(t, filepath.Join(folder, filepath.Base(i.path)), n%2 == 0)
			}
			d.requireConformance(t, requirements)
		})
		if !ok {
			return // The mixes after it have its data.
		}
	}
}

// replace lets the instance run another program.
func (i *instance) replace(t *testing.T, path string, inOrder bool) {
	t.Helper()
	if i.path == path {
		return
	}
	i.path = path
	if inOrder {
		i.restart(t)
		return
	}
	i.kill()
	require.NoError(t, i.start(t.Context()))
	i.awaitReady(t)
}

// requireConformance runs the checks of the requirements against the platform. The sources are those of the checks.
func (d *deployment) requireConformance(t *testing.T, sources string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=10m", "-run=^TestPlatform$", ".")
	run.Dir = filepath.Join(sources, "deploy", "tests", "conformance")
	run.Env = os.Environ()
	for name, value := range d.env {
		if name != "GIFTING_INBOX_URL" { // The receiver ended with the stack that prepared the deployment.
			run.Env = append(run.Env, name+"="+value)
		}
	}
	output, err := run.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
