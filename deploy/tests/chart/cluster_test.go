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
	const values = `
authorities: {configMap: {name: ca}}
extraEnv: [{name: A, valueFrom: {secretKeyRef: {name: variable, key: a}}}]
extraEnvFrom: [{configMapRef: {name: variables}}]
extraVolumes: [{name: files, projected: {sources: [{secret: {name: files}}]}}]
orders: {extraEnvFrom: [{secretRef: {name: own}}]}
events: {extraEnvFrom: [{secretRef: {name: other}}]}
rollOnChange: `
	// rolled returns the annotations of the pods if the object with the name, if there is one, has changed.
	rolled := func(on, changed string) map[string]string {
		of := func(name string) meta.ObjectMeta {
			version := "1"
			if name == changed {
				version = "2"
			}
			return meta.ObjectMeta{Name: name, Namespace: chart.Release, ResourceVersion: version}
		}
		var live []runtime.Object
		for _, name := range []string{"gifting-orders", "gifting-events", "variable", "files", "own", "other"} {
			live = append(live, &core.Secret{ObjectMeta: of(name)})
		}
		for _, name := range []string{"ca", "variables"} {
			live = append(live, &core.ConfigMap{ObjectMeta: of(name)})
		}
		return upgraded(t, values+on, live...).Spec.Template.Annotations
	}
	before := rolled("true", "")
	for _, needed := range []string{"gifting-orders", "ca", "variable", "variables", "files", "own"} {
		require.NotEqual(t, before, rolled("true", needed), needed)
	}
	for _, foreign := range []string{"gifting-events", "other"} {
		require.Equal(t, before, rolled("true", foreign), foreign)
	}
	require.Equal(t, rolled("false", ""), rolled("false", "gifting-orders"))
}

func TestAPodIsRestartedWhenAnExtraObjectThatItNeedsChanges(t *testing.T) {
	t.Parallel()
	rolled := func(content string) map[string]string {
		return upgraded(t, `
rollOnChange: true
migrations: {enabled: false}
extraEnvFrom: [{configMapRef: {name: added}}]
extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: added}, data: {A: "`+content+`"}}]`).Spec.Template.Annotations
	}
	require.Equal(t, rolled("1"), rolled("1"))
	require.NotEqual(t, rolled("1"), rolled("2"))
}
