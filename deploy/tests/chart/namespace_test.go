//go:build manifests && apiserver

package chart_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

// apiServer is a running API server and the REST paths of its kinds.
type apiServer struct {
	config *rest.Config
	mapper meta.RESTMapper
}

// namespace is a namespace in which releases are installed. It collects what the API server objects to.
type namespace struct {
	name     string
	client   dynamic.Interface
	mapper   meta.RESTMapper
	warnings []string
	problems []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (n *namespace) HandleWarningHeader(_ int, _, text string) { n.warnings = append(n.warnings, text) }

// check records the error and the warnings of a request.
func (n *namespace) check(what string, err error) bool {
	if err != nil {
		n.problems = append(n.problems, what+": "+err.Error())
	}
	for _, warning := range n.warnings {
		n.problems = append(n.problems, what+": warning: "+warning)
	}
	n.warnings = nil
	return err == nil
}

func startChartServer(t *testing.T) apiServer {
	t.Helper()
	config := startAPIServer(t)
	establishDefinitions(t, config)
	client, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	return apiServer{config: config, mapper: restmapper.NewDiscoveryRESTMapper(groups)}
}

// namespace makes a namespace that admits only restricted pods, with what a cluster has before a release: the account
// default, which a controller would make, and the priority classes that the values name.
func (s apiServer) namespace(t *testing.T, name string, sets ...map[string]any) *namespace {
	t.Helper()
	n := &namespace{name: name, mapper: s.mapper}
	config := rest.CopyConfig(s.config)
	config.WarningHandler = n
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	n.client = client
	n.apply(t, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {
		pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted,
		pod-security.kubernetes.io/audit: restricted}}}`, name))
	n.apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`)
	for _, values := range sets {
		if class, ok := values["priorityClassName"].(string); ok {
			n.apply(t, fmt.Sprintf(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: 1000}`, class))
		}
	}
	n.requireNoProblems(t)
	return n
}

func (n *namespace) requireNoProblems(t *testing.T) {
	t.Helper()
	require.Empty(t, n.problems, strings.Join(n.problems, "\n"))
}

// resource returns the object of a text and the path of its kind.
func (n *namespace) resource(t *testing.T, text string) (*unstructured.Unstructured, dynamic.ResourceInterface) {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	kind := object.GroupVersionKind()
	mapping, err := n.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return object, n.client.Resource(mapping.Resource)
	}
	return object, n.client.Resource(mapping.Resource).Namespace(n.name)
}

// apply sends the text as it is, by server-side apply. A field that is unknown or given twice is an error.
func (n *namespace) apply(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object, resource := n.resource(t, text)
	force := true
	applied, err := resource.Patch(t.Context(), object.GetName(), types.ApplyPatchType, []byte(text),
		metav1.PatchOptions{FieldManager: "helm", Force: &force, FieldValidation: metav1.FieldValidationStrict})
	if n.check(object.GetKind()+" "+object.GetName(), err) {
		return applied
	}
	return nil
}

// release renders the chart with the objects that the namespace has, and sorts its manifests as helm does.
func (n *namespace) release(
	t *testing.T, dir string, values map[string]any, upgrade bool,
) ([]*release.Hook, []releaseutil.Manifest) {
	t.Helper()
	options := chartutil.ReleaseOptions{Name: chart.Release, Namespace: n.name, Revision: 1, IsInstall: !upgrade, IsUpgrade: upgrade}
	files, err := chart.Files(dir, options, values, cluster{n.client})
	require.NoError(t, err)
	for name := range files {
		if strings.HasSuffix(name, ".txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	require.NoError(t, err)
	slices.SortStableFunc(hooks, func(a, b *release.Hook) int { return cmp.Compare(a.Weight, b.Weight) })
	return hooks, manifests
}

// install does what `helm install` does, followed by `helm test`.
func (n *namespace) install(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	hooks, manifests := n.release(t, dir, values, false)
	n.run(t, hooks, release.HookPreInstall)
	for _, manifest := range manifests {
		n.apply(t, manifest.Content)
	}
	n.run(t, hooks, release.HookPostInstall)
	n.run(t, hooks, release.HookTest)
}

// upgrade does what `helm upgrade` does, followed by `helm test`, in a namespace that has a release.
func (n *namespace) upgrade(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	hooks, manifests := n.release(t, dir, values, true)
	n.run(t, hooks, release.HookPreUpgrade)
	for _, manifest := range manifests {
		n.apply(t, manifest.Content)
	}
	n.run(t, hooks, release.HookPostUpgrade)
	n.run(t, hooks, release.HookTest)
}

// run makes the hooks of an event. Those that exist are deleted before, if they say so, and those that succeeded afterwards.
func (n *namespace) run(t *testing.T, hooks []*release.Hook, event release.HookEvent) {
	t.Helper()
	for _, hook := range hooks {
		if !slices.Contains(hook.Events, event) {
			continue
		}
		if slices.Contains(hook.DeletePolicies, release.HookBeforeHookCreation) {
			n.remove(t, hook.Manifest)
		}
		n.apply(t, hook.Manifest)
		if slices.Contains(hook.DeletePolicies, release.HookSucceeded) {
			n.remove(t, hook.Manifest)
		}
	}
}

// remove deletes at once: there is no kubelet that ends a pod, and no controller that deletes what belongs to a job.
func (n *namespace) remove(t *testing.T, text string) {
	t.Helper()
	object, resource := n.resource(t, text)
	err := resource.Delete(t.Context(), object.GetName(), metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if !errors.IsNotFound(err) {
		n.check("delete "+object.GetKind()+" "+object.GetName(), err)
	}
}

// admitPods creates the pods of all templates without storing them: only pods themselves are refused by admission. A
// Deployment with a forbidden pod is stored, with a warning.
func (n *namespace) admitPods(t *testing.T, dir string, values map[string]any) int {
	t.Helper()
	hooks, manifests := n.release(t, dir, values, false)
	texts := make([]string, 0, len(hooks)+len(manifests))
	for _, hook := range hooks {
		texts = append(texts, hook.Manifest)
	}
	for _, manifest := range manifests {
		texts = append(texts, manifest.Content)
	}
	admitted := 0
	for _, text := range texts {
		owner, _ := n.resource(t, text)
		template := templateOf(owner)
		if template == nil {
			continue
		}
		pod := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"], "spec": template["spec"],
		}}
		pod.SetName(owner.GetName() + "-0")
		_, resource := n.resource(t, `{apiVersion: v1, kind: Pod}`)
		_, err := resource.Create(t.Context(), pod, metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		})
		n.check("the pod of "+owner.GetKind()+" "+owner.GetName(), err)
		admitted++
	}
	return admitted
}

// templateOf returns the template of the pods that an object makes, or the object if it is a pod.
func templateOf(owner *unstructured.Unstructured) map[string]any {
	if owner.GetKind() == "Pod" {
		return owner.Object
	}
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		template, found, err := unstructured.NestedMap(owner.Object, path...)
		if _, isPod := template["spec"]; found && isPod && err == nil {
			return template
		}
	}
	return nil
}
