//go:build manifests

package chart_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// The rules, whose mutations are below, show that the pod runs, reaches the gateway and is no part of the release.
func TestHelmTestChecksASandbox(t *testing.T) {
	t.Parallel()
	objects := render(t, `
environment: sandbox
publicUrl: https://example.com/gifts/api/public/v1
test: {apiKey: {name: test-key}}`)
	var pod *core.Pod
	for _, object := range objects {
		if one, ok := object.(*core.Pod); ok {
			pod = one
		}
	}
	require.NotNil(t, pod)
	require.Equal(t, []string{
		"check", "--url=http://gifting-gateway:8080/api/public/v1", "--key-file=/etc/gifting/test/api-key",
	}, pod.Spec.Containers[0].Args)
	require.Equal(t, "test-key", pod.Spec.Volumes[0].Secret.SecretName)
	for _, object := range render(t, `{}`) {
		require.NotEqual(t, "gifting-test", object.GetName())
	}
}

func TestHelmTestGetsWhatAllPodsGet(t *testing.T) {
	t.Parallel()
	for _, object := range render(t, `
authorities: {configMap: {name: company-ca}}
environment: sandbox
test: {apiKey: {name: test-key}}
podAnnotations: {mesh/inject: "false"}
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
extraEnvFrom: [{configMapRef: {name: company}}]
extraVolumes: [{name: own, emptyDir: {}}]
extraVolumeMounts: [{name: own, mountPath: /own}]
extraEgress: [{to: [{ipBlock: {cidr: 10.9.0.0/24}}], ports: [{port: 3128}]}]`) {
		switch o := object.(type) {
		case *core.Pod:
			container := o.Spec.Containers[0]
			require.Equal(t, "false", o.Annotations["mesh/inject"])
			require.Equal(t, []core.EnvVar{
				{Name: "SSL_CERT_DIR", Value: "/etc/ssl/certs:/etc/gifting/authorities"}, {Name: "HTTPS_PROXY", Value: "http://proxy:3128"},
			}, container.Env)
			require.Equal(t, "company", container.EnvFrom[0].ConfigMapRef.Name)
			require.Contains(t, container.VolumeMounts, core.VolumeMount{Name: "own", MountPath: "/own"})
		case *networking.NetworkPolicy:
			if o.Name == "gifting-test" {
				require.Equal(t, "10.9.0.0/24", o.Spec.Egress[len(o.Spec.Egress)-1].To[0].IPBlock.CIDR)
			}
		}
	}
}

func TestTheRulesCoverHelmTest(t *testing.T) {
	t.Parallel()
	const sandbox = `{environment: sandbox, test: {apiKey: {name: test-key}}}`
	requireNoProblems(t, changedValues(t, sandbox))
	requireNoProblems(t, changedValues(t, `{environment: sandbox, test: {apiKey: {name: k}}, networkPolicy: {gateway: {from: []}}}`))
	requireFound(t, "test", sandbox)
}
