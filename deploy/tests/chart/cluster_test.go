//go:build manifests

package chart_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

// cluster implements engine.ClientProvider.
type cluster struct{ client dynamic.Interface }

var resources = map[string]string{"Deployment": "deployments", "Secret": "secrets", "ConfigMap": "configmaps"}

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	group, err := schema.ParseGroupVersion(apiVersion)
	return c.client.Resource(group.WithResource(resources[kind])), true, err
}

// upgraded renders an upgrade in a cluster with the objects and returns the Deployment of orders.
func upgraded(t *testing.T, values string, live ...runtime.Object) *apps.Deployment {
	t.Helper()
	objects, err := chart.Upgrade(dir, changedValues(t, values), cluster{fake.NewSimpleDynamicClient(scheme.Scheme, live...)})
	require.NoError(t, err)
	for _, object := range objects {
		if d, ok := object.(*apps.Deployment); ok && d.Name == "gifting-orders" {
			return d
		}
	}
	require.Fail(t, "no Deployment")
	return nil
}

func TestAutoscalingKeepsTheNumberOfInstances(t *testing.T) {
	t.Parallel()
	replicas := int32(6)
	live := &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: "gifting-orders", Namespace: chart.Release}, Spec: apps.DeploymentSpec{Replicas: &replicas},
	}
	require.Equal(t, &replicas, upgraded(t, `{"orders": {"autoscaling": {"enabled": true}}}`, live).Spec.Replicas)
	require.Nil(t, upgraded(t, `{"orders": {"autoscaling": {"enabled": true}}}`).Spec.Replicas)
	require.Equal(t, &replicas, upgraded(t, `{"orders": {"autoscaling": {"enabled": false}, "replicas": null}}`, live).Spec.Replicas)
	require.EqualValues(t, 2, *upgraded(t, `{"orders": {"autoscaling": {"enabled": false}}}`, live).Spec.Replicas)
}

func TestAPodIsRestartedWhenAReferencedObjectChanged(t *testing.T) {
	t.Parallel()
	secret := func(name, version string) *core.Secret {
		return &core.Secret{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: chart.Release, ResourceVersion: version}}
	}
	bundle := func(version string) *core.ConfigMap {
		return &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "ca", Namespace: chart.Release, ResourceVersion: version}}
	}
	rolled := func(on string, live ...runtime.Object) map[string]string {
		return upgraded(t, `{"rollOnChange": `+on+`, "authorities": {"configMap": {"name": "ca"}}}`, live...).Spec.Template.Annotations
	}
	before := rolled("true", secret("gifting-orders", "1"), secret("gifting-events", "1"), bundle("1"))
	require.Equal(t, before, rolled("true", secret("gifting-orders", "1"), secret("gifting-events", "2"), bundle("1")))
	require.NotEqual(t, before, rolled("true", secret("gifting-orders", "2"), secret("gifting-events", "1"), bundle("1")))
	require.NotEqual(t, before, rolled("true", secret("gifting-orders", "1"), secret("gifting-events", "1"), bundle("2")))
	require.Equal(t, rolled("false", secret("gifting-orders", "1")), rolled("false", secret("gifting-orders", "2")))
}
