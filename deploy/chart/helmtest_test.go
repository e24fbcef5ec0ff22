//go:build manifests

package chart_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
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
