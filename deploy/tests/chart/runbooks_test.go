//go:build manifests

package chart_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// kubectl answers from files. It writes the pod that is created, whose program exits with the code in the file code. A pod without
// one was evicted.
const kubectl = `#!/bin/sh
case "$1 $2" in
"get deployment") cat "$STATE/deployments.json" ;;
"create -f") cat > "$STATE/pod.json" ;;
"get pod")
	case "$5 $(cat "$STATE/code")" in
	*.exitCode*) cat "$STATE/code" ;;
	*" 0") printf Succeeded ;;
	*) printf Failed ;;
	esac ;;
"logs -f") echo "the log of $3" ;;
"delete pod") echo "$3" > "$STATE/deleted" ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
`

// TestTheShellFunctionOfRunbooksStartsAPod runs the function program of the runbooks with the deployments of the chart.
func TestTheShellFunctionOfRunbooksStartsAPod(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		require.Empty(t, os.Getenv("CI"), "jq is not installed")
		t.Skip("jq is not installed") // The function needs it. The whole check installs it, and fails without it.
	}
	for _, object := range render(t, "{}") {
		d, ok := object.(*apps.Deployment)
		if !ok {
			continue
		}
		name := strings.TrimPrefix(d.Spec.Template.Spec.Containers[0].Command[0], "/")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			raw, err := json.Marshal(map[string]any{"items": []any{d}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(state, "deployments.json"), raw, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(state, "kubectl"), []byte(kubectl), 0o700)) //nolint:gosec // It is a program.
			for of, want := range map[string]int{"0": 0, "3": 3, "": 1} {
				require.NoError(t, os.WriteFile(filepath.Join(state, "code"), []byte(of), 0o600))
				out, code := runProgram(t, state, name)
				require.Equal(t, want, code, out)
				require.Contains(t, out, "the log of "+name+"-")
				require.FileExists(t, filepath.Join(state, "deleted"))
				requireLikeDeployment(t, state, name, d)
			}
		})
	}
}

// runProgram runs the first functions of the runbooks, those for Kubernetes, and returns the output and the exit code.
func runProgram(t *testing.T, state, name string) (string, int) {
	t.Helper()
	page, err := os.ReadFile("../../runbooks/README.md")
	require.NoError(t, err)
	_, functions, _ := strings.Cut(string(page), "```sh\n")
	functions, _, _ = strings.Cut(functions, "```")
	script := functions + "\nprogram " + name + " migrate --check 'two words'"
	command := exec.CommandContext(t.Context(), "sh", "-c", script) //nolint:gosec // The text is the project's.
	command.Env = append(os.Environ(), "STATE="+state, "PATH="+state+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(out), command.ProcessState.ExitCode()
}

func requireLikeDeployment(t *testing.T, state, name string, d *apps.Deployment) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(state, "pod.json"))
	require.NoError(t, err)
	var made core.Pod
	require.NoError(t, json.Unmarshal(raw, &made))
	require.Equal(t, d.Spec.Template.Labels, made.Labels, "the network policies apply")
	require.Equal(t, core.RestartPolicyNever, made.Spec.RestartPolicy)
	container, of := made.Spec.Containers[0], d.Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"/" + name}, container.Command)
	require.Equal(t, []string{"migrate", "--check", "two words"}, container.Args)
	require.Equal(t, of.Image, container.Image)
	require.Equal(t, of.Env, container.Env)
	require.Equal(t, of.VolumeMounts, container.VolumeMounts)
	require.NotNil(t, container.ReadinessProbe, "it gets no requests")
	require.Nil(t, container.LivenessProbe)
	require.Nil(t, container.StartupProbe)
}
