//go:build manifests

package chart_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

func TestHelmTestChecksASandboxAndMayReachItsGateway(t *testing.T) {
	t.Parallel()
	objects := render(t, `{"environment": "sandbox", "publicUrl": "https://example.com/gifts/api/public/v1", "test": {"apiKey": {"name": "test-key"}}}`)
	var pod *core.Pod
	admitted, policy := false, false
	for _, object := range objects {
		switch o := object.(type) {
		case *core.Pod:
			pod = o
		case *networking.NetworkPolicy:
			policy = policy || o.Name == "gifting-test"
			for _, rule := range o.Spec.Ingress {
				for _, peer := range rule.From {
					if o.Name == "gifting-gateway" && peer.PodSelector != nil && peer.PodSelector.MatchLabels["app.kubernetes.io/component"] == "test" {
						admitted = true
					}
				}
			}
		}
	}
	require.NotNil(t, pod)
	require.True(t, admitted)
	require.True(t, policy)
	require.Equal(t, "test", pod.Annotations["helm.sh/hook"])
	require.Equal(t, "test", pod.Labels["app.kubernetes.io/component"])
	container := pod.Spec.Containers[0]
	require.Equal(t, []string{"/giftingctl"}, container.Command)
	require.Equal(t, []string{"check", "--url=http://gifting-gateway:8080/api/public/v1", "--key-file=/etc/gifting/test/api-key"}, container.Args)
	require.Equal(t, "test-key", pod.Spec.Volumes[0].Secret.SecretName)
	orders := templates(objects)["gifting-orders"].Spec
	require.Equal(t, orders.Containers[0].SecurityContext, container.SecurityContext)
	require.Equal(t, orders.SecurityContext, pod.Spec.SecurityContext)
	for _, object := range render(t, `{}`) {
		require.NotEqual(t, "gifting-test", object.GetName())
	}
}

func TestHelmTestGetsWhatAllPodsGet(t *testing.T) {
	t.Parallel()
	for _, object := range render(t, `{"authorities": {"configMap": {"name": "company-ca"}}, "environment": "sandbox", "test": {"apiKey": {"name": "test-key"}},
		"podAnnotations": {"mesh/inject": "false"}, "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
		"extraEnvFrom": [{"configMapRef": {"name": "company"}}], "extraVolumes": [{"name": "own", "emptyDir": {}}],
		"extraVolumeMounts": [{"name": "own", "mountPath": "/own"}],
		"extraEgress": [{"to": [{"ipBlock": {"cidr": "10.9.0.0/24"}}], "ports": [{"port": 3128}]}]}`) {
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
	const template, network = "templates/test.yaml", "templates/networkpolicies.yaml"
	sandbox := `{"environment": "sandbox", "test": {"apiKey": {"name": "test-key"}}}`
	requireNoProblems(t, changedValues(t, sandbox))
	requireNoProblems(t, changedValues(t, `{"environment": "sandbox", "test": {"apiKey": {"name": "test-key"}}, "networkPolicy": {"gateway": {"from": []}}}`))
	for name, tc := range map[string]struct{ file, text, by, problem string }{
		"a test that may write to its root":    {template, `{{- include "gifting.containerSecurity" . | nindent 8 }}`, "privileged: true", "Pod gifting-test: container test writes to its root"},
		"a test that runs something else":      {template, "command: [/giftingctl]", "command: [/sh]", "Pod gifting-test runs [/sh], which is not a program of the platform"},
		"a test of another address":            {template, "--url=http://{{", "--url=http://other-{{", "Pod gifting-test calls other-gifting-gateway:8080, which is not a service"},
		"a test whose key is not mounted":      {template, "--key-file=/etc/gifting/test/", "--key-file=/etc/gifting/key/", "--key-file names /etc/gifting/key/api-key, which is not mounted"},
		"a test that does not reach its goal":  {template, `(dict "root" . "name" "gateway")`, `(dict "root" . "name" "orders")`, "Pod gifting-test -> Deployment gifting-gateway: is called but not let out"},
		"a test that is not let in":            {network, `(dict "root" $ "name" "test")`, `(dict "root" $ "name" "tenants")`, "Pod gifting-test -> Deployment gifting-gateway: is called but not let in"},
		"a test that is part of the release":   {template, "helm.sh/hook: test\n    helm.sh/hook-weight: \"0\"\n", "", "Pod gifting-test is not a test of helm"},
		"a test that begins before its policy": {template, `helm.sh/hook-weight: "0"`, `helm.sh/hook-weight: "-20"`, "NetworkPolicy gifting-test does not exist before Pod gifting-test"},
		"a test that helm does not wait for":   {template, "activeDeadlineSeconds: 120", "activeDeadlineSeconds: 300", "Pod gifting-test may still run when helm no longer waits for it"},
		"a test that cannot resolve names":     {template, `{{- include "gifting.egressToDNS" . | nindent 4 }}`, "", "Pod gifting-test cannot resolve names"},
		"a secret of the test in plain text":   {template, `{{- with include "gifting.commonEnvironment" $program }}`, "env: [{name: GIFTING_PASSWORD, value: hunter2}]\n      {{- with \"\" }}", "GIFTING_PASSWORD is a secret by its name, in plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := chart.Render(changed(t, tc.file, tc.text, tc.by), changedValues(t, sandbox))
			require.NoError(t, err)
			require.Contains(t, strings.Join(chart.Check(objects), "\n"), tc.problem)
		})
	}
}
