//go:build manifests && apiserver

package chart_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Modules with definitions of custom resources. They are no requirements of this module, which needs no code of them; the checksum
// database vouches for them.
const (
	prometheusOperator = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
	externalSecrets    = "github.com/external-secrets/external-secrets@v1.3.2"
	keda               = "github.com/kedacore/keda/v2@v2.21.0"
)

// establishDefinitions gives the server the definitions of all custom resources that the chart and its examples may make, with their
// full schemas.
func establishDefinitions(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	gateways, certificates := required(t, "sigs.k8s.io/gateway-api"), required(t, "github.com/cert-manager/cert-manager")
	operator, secrets := downloaded(t, prometheusOperator), downloaded(t, externalSecrets)
	for name, file := range map[string]string{
		"httproutes.gateway.networking.k8s.io":  gateways + "/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
		"certificates.cert-manager.io":          certificates + "/deploy/crds/cert-manager.io_certificates.yaml",
		"issuers.cert-manager.io":               certificates + "/deploy/crds/cert-manager.io_issuers.yaml",
		"externalsecrets.external-secrets.io":   secrets + "/config/crds/bases/external-secrets.io_externalsecrets.yaml",
		"secretstores.external-secrets.io":      secrets + "/config/crds/bases/external-secrets.io_secretstores.yaml",
		"scaledobjects.keda.sh":                 downloaded(t, keda) + "/config/crd/bases/keda.sh_scaledobjects.yaml",
		"servicemonitors.monitoring.coreos.com": operator + "/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
		"prometheusrules.monitoring.coreos.com": operator + "/example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	} {
		text, err := os.ReadFile(filepath.Clean(file))
		require.NoError(t, err)
		_, err = definitions.Patch(t.Context(), name, types.ApplyPatchType, text, meta.PatchOptions{FieldManager: "helm"})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			definition, err := definitions.Get(t.Context(), name, meta.GetOptions{})
			return err == nil && isEstablished(definition)
		}, startsWithin, 50*time.Millisecond, name)
	}
}

func isEstablished(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return true
		}
	}
	return false
}

// required returns the folder of a module that this one requires.
func required(t *testing.T, module string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(output))
}

// downloaded returns the folder of a version of another module.
func downloaded(t *testing.T, version string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", version)
	command.Dir = t.TempDir() // Outside of any module.
	output, err := command.Output()
	var answer struct{ Dir, Error string }
	require.NoError(t, json.Unmarshal(output, &answer))
	require.Empty(t, answer.Error)
	require.NoError(t, err)
	return answer.Dir
}
