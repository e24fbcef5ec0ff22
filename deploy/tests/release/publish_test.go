//go:build release

package release_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"
)

// signing makes a key, and returns the flags of cosign with which it signs and verifies. Nothing is recorded in a public log.
func (r released) signing(t *testing.T) (sign, verify string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("COSIGN_PASSWORD", "")
	command(t, dir, nil, "cosign", "generate-key-pair")
	return "--key=" + dir + "/cosign.key --tlog-upload=false --use-signing-config=false",
		"--key=" + dir + "/cosign.pub --insecure-ignore-tlog"
}

func (r released) testRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	t.Cleanup(server.Close)
	sign, verify := r.signing(t)
	host := strings.TrimPrefix(server.URL, "http://")
	image, chart := host+"/partnergifting/platform", host+"/partnergifting/charts/gifting"
	check := func(subject string, args ...string) (string, error) {
		return try(t.Context(), "", nil, "cosign", append(append(args, strings.Fields(verify)...), subject)...)
	}

	command(t, r.root, nil, "crane", "push", "--index", r.path("image"), host+"/unsigned/platform:"+r.version)
	output, err := check(host+"/unsigned/platform:"+r.version, "verify")
	require.Error(t, err)
	require.Contains(t, output, "no signatures found")

	for range 2 { // It can be repeated after a failure.
		command(t, r.root, nil, "make", "publish-registry", "REGISTRY="+host+"/partnergifting", "COSIGN_FLAGS="+sign,
			"HELM_FLAGS=--plain-http")
	}
	require.Equal(t, r.digest(t), strings.TrimSpace(command(t, "", nil, "crane", "digest", image+":"+r.version)))
	for _, architecture := range []string{"amd64", "arm64"} {
		digest, err := r.images[architecture].Digest()
		require.NoError(t, err)
		output, err := check(image+"@"+digest.String(), "verify")
		require.NoError(t, err, output)
		output, err = check(image+"@"+digest.String(), "verify-attestation", "--type", "spdxjson")
		require.NoError(t, err, output)
		require.NotContains(t, output, "no matching attestations")
	}
	for _, signed := range []string{image, chart} {
		output, err := check(signed+":"+r.version, "verify")
		require.NoError(t, err, output)
	}

	pulled := t.TempDir()
	command(t, pulled, nil, "helm", "pull", "oci://"+chart, "--version", r.version, "--plain-http")
	packed, err := os.ReadFile(r.path("files", "gifting-"+r.version+".tgz"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(pulled, "gifting-"+r.version+".tgz"))
	require.NoError(t, err)
	require.Equal(t, packed, got)
	rendered := command(t, pulled, nil, "helm", "template", "gifting", "gifting-"+r.version+".tgz", "--kube-version", "1.30.0",
		"--values", filepath.Join(r.root, "deploy", "production", "values.yaml"))
	require.Contains(t, rendered, "image: \"ghcr.io/partnergifting/platform:"+r.version+"\"")
}

func (r released) testPackages(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	served := t.TempDir()
	server := exec.CommandContext(t.Context(), "pypi-server", "run", "--interface", "127.0.0.1", "--port", port, "--passwords", ".",
		"--authenticate", ".", served)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, time.Minute, 100*time.Millisecond)

	command(t, r.root, nil, "make", "publish-pypi",
		"TWINE_FLAGS=--repository-url http://"+address+"/ --username anyone --password any")
	require.FileExists(t, filepath.Join(served, "partnergifting-"+r.version+"-py3-none-any.whl"))
	require.FileExists(t, filepath.Join(served, "partnergifting-"+r.version+".tar.gz"))
	installed := t.TempDir()
	command(t, "", nil, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", installed,
		"--index-url", "http://"+address+"/simple/", "partnergifting=="+r.version)
	require.FileExists(t, filepath.Join(installed, "partnergifting", "py.typed"))

	output := command(t, r.root, nil, "make", "publish-npm", "NPM_FLAGS=--dry-run")
	require.Contains(t, output, "+ @partnergifting/sdk@"+r.version)
}

func (r released) testDownload(t *testing.T) {
	sign, verify := r.signing(t)
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+said+"\n"), 0o700))
	command(t, r.root, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "make", "publish-files", "COSIGN_FLAGS="+sign)
	args, err := os.ReadFile(said)
	require.NoError(t, err)
	require.Contains(t, string(args), "release\ncreate\nv"+r.version+"\n--verify-tag\n")
	sums, bundle := r.path("files", "SHA256SUMS"), r.path("files", "SHA256SUMS.sigstore.json")
	require.Equal(t, 1, strings.Count(string(args), bundle+"\n"))
	// Eight programs, the chart, two lists of modules, the checksums and their signature.
	require.Equal(t, 13, strings.Count(string(args), r.path("files")))
	flags := append([]string{"verify-blob", "--bundle", bundle}, strings.Fields(verify)...)
	command(t, "", nil, "cosign", append(flags, sums)...)
	other := filepath.Join(dir, "SHA256SUMS")
	require.NoError(t, os.WriteFile(other, []byte("other"), 0o600))
	_, err = try(t.Context(), "", nil, "cosign", append(flags, other)...)
	require.Error(t, err)
}

// testGoModules publishes the modules of a clone to a repository on this machine, and installs them from there as integrators do.
func (r released) testGoModules(t *testing.T) {
	dir := t.TempDir()
	origin, clone := filepath.Join(dir, "origin"), filepath.Join(dir, "clone")
	command(t, r.root, nil, "git", "clone", "--quiet", "--bare", ".", origin)
	command(t, dir, nil, "git", "clone", "--quiet", origin, clone)
	env := []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + origin + ".insteadOf",
		"GIT_CONFIG_VALUE_0=https://github.com/partnergifting/platform", "GOMODCACHE=" + r.moduleCache(t), "GOFLAGS=-modcacherw",
	}
	for range 2 { // It can be repeated after a failure.
		command(t, clone, env, "make", "publish-modules")
	}
	bin := t.TempDir()
	env = append(env, "GOBIN="+bin, "GOWORK=off", "GOPRIVATE=github.com/partnergifting")
	command(t, bin, env, "go", "install", "github.com/partnergifting/platform/gateway/sdk/gifting@v"+r.version)
	require.Contains(t, command(t, bin, nil, filepath.Join(bin, "gifting"), "--version"), "v"+r.version)
	require.Contains(t, command(t, origin, nil, "git", "tag"), "gateway/sdk/go/v"+r.version)
}

// moduleCache is empty, so that the modules of the clone stay in no other. The others come from the cache of this machine.
func (r released) moduleCache(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gifting-modules-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cache := strings.TrimSpace(command(t, "", nil, "go", "env", "GOMODCACHE"))
	proxy := strings.TrimSpace(command(t, "", nil, "go", "env", "GOPROXY"))
	t.Setenv("GOPROXY", "file://"+filepath.Join(cache, "cache", "download")+","+proxy)
	return dir
}

// testWorkflow compares the workflow with the steps that `make publish` has, each of which is tried above.
func (r released) testWorkflow(t *testing.T) {
	workflow, err := os.ReadFile(filepath.Join(r.root, ".github", "workflows", "release.yaml"))
	require.NoError(t, err)
	makefile, err := os.ReadFile(filepath.Join(r.root, "Makefile"))
	require.NoError(t, err)
	_, steps, found := strings.Cut(string(makefile), "\npublish: ")
	require.True(t, found)
	steps, _, _ = strings.Cut(steps, "\n")
	require.Len(t, strings.Fields(steps), 5)
	for _, step := range strings.Fields(steps) {
		require.Regexp(t, `run: make `+step+`\b`, string(workflow))
	}
	// What may publish does not run if the workflow is started by hand.
	require.Equal(t, strings.Count(string(workflow), "environment: release\n"),
		strings.Count(string(workflow), "    if: github.event_name == 'push' "))
	named := command(t, r.root, nil, "make", "-n", "publish")
	for _, a := range r.artefacts(t) {
		if name, _, _ := strings.Cut(a.name, " "); !strings.HasPrefix(name, "platform:") || !strings.Contains(a.name, " ") {
			require.Contains(t, named, name)
		}
	}
	require.Contains(t, named, "gateway/sdk/go/v"+r.version)
	require.Contains(t, named, "oci://ghcr.io/partnergifting/charts")
}
