//go:build manifests

package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayapi "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// kubeVersion is the oldest Kubernetes that the chart supports.
var kubeVersion = chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}

// Release is the name of the release, and its namespace.
const Release = "gifting"

// Objects of a rendered chart, each of the type of its kind.
type Objects []meta.Object

// kinds are all kinds that the chart may make.
var kinds = map[string]func() meta.Object{
	"apps/v1 Deployment":                      func() meta.Object { return &apps.Deployment{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() meta.Object { return &autoscaling.HorizontalPodAutoscaler{} },
	"batch/v1 Job":                            func() meta.Object { return &batch.Job{} },
	"v1 Pod":                                  func() meta.Object { return &core.Pod{} },
	"v1 ConfigMap":                            func() meta.Object { return &core.ConfigMap{} },
	"v1 Service":                              func() meta.Object { return &core.Service{} },
	"v1 ServiceAccount":                       func() meta.Object { return &core.ServiceAccount{} },
	"networking.k8s.io/v1 Ingress":            func() meta.Object { return &networking.Ingress{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() meta.Object { return &networking.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":           func() meta.Object { return &policy.PodDisruptionBudget{} },
	"cert-manager.io/v1 Certificate":          func() meta.Object { return &certmanager.Certificate{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() meta.Object { return &monitoring.ServiceMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule": func() meta.Object { return &monitoring.PrometheusRule{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() meta.Object { return &gatewayapi.HTTPRoute{} },
}

// Render renders the chart in the folder with the values, which its schema has to accept, and decodes every object.
func Render(dir string, values map[string]any) (Objects, error) {
	return RenderAs(dir, Release, values)
}

// RenderAs is Render for a release of another name.
func RenderAs(dir, release string, values map[string]any) (Objects, error) {
	options := chartutil.ReleaseOptions{Name: release, Namespace: release, Revision: 1, IsInstall: true}
	loaded, complete, err := load(dir, options, values)
	if err != nil {
		return nil, err
	}
	// Strict: a value that does not exist is an error and not an empty text.
	files, err := engine.Engine{Strict: true}.Render(loaded, complete)
	if err != nil {
		return nil, err
	}
	return decodeAll(files)
}

// Upgrade renders the chart in a cluster that has objects, which the chart can look up.
func Upgrade(dir string, values map[string]any, cluster engine.ClientProvider) (Objects, error) {
	options := chartutil.ReleaseOptions{Name: Release, Namespace: Release, Revision: 2, IsUpgrade: true}
	files, err := Files(dir, options, values, cluster)
	if err != nil {
		return nil, err
	}
	return decodeAll(files)
}

// Files renders the chart in a cluster and returns the text of each file, which is not decoded.
func Files(
	dir string, release chartutil.ReleaseOptions, values map[string]any, cluster engine.ClientProvider,
) (map[string]string, error) {
	loaded, complete, err := load(dir, release, values)
	if err != nil {
		return nil, err
	}
	return engine.RenderWithClientProvider(loaded, complete, cluster)
}

func load(dir string, options chartutil.ReleaseOptions, values map[string]any) (*helmchart.Chart, chartutil.Values, error) {
	loaded, err := loader.LoadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = kubeVersion
	complete, err := chartutil.ToRenderValues(loaded, values, options, capabilities)
	return loaded, complete, err
}

func decodeAll(files map[string]string) (Objects, error) {
	var all Objects
	for file, text := range files {
		if strings.HasSuffix(file, ".txt") {
			continue
		}
		objects, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

var errKind = errors.New("the chart makes no objects of this kind")

// decode reads a rendered file. A field that Kubernetes does not know, or knows with another type, is an error. Only JSON shows
// the types: yaml.UnmarshalStrict turns the number of a text that is not quoted into that text, and an API server refuses it.
func decode(text string) (Objects, error) {
	var objects Objects
	for document := range strings.SplitSeq("\n"+text, "\n---") {
		var kind meta.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			return nil, err
		}
		if kind.Kind == "" && strings.TrimSpace(document) == "" {
			continue
		}
		newObject, found := kinds[kind.APIVersion+" "+kind.Kind]
		if !found {
			return nil, fmt.Errorf("%w: %s %s", errKind, kind.APIVersion, kind.Kind)
		}
		object := newObject()
		fields, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Kind, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(fields))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// ofKind returns the objects of one kind.
func ofKind[T meta.Object](objects Objects) []T {
	var found []T
	for _, object := range objects {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// title is the kind and name of an object.
func title(object meta.Object) string {
	kind := fmt.Sprintf("%T", object)
	return kind[strings.LastIndexByte(kind, '.')+1:] + " " + object.GetName()
}

// Lint runs Helm's own linter and returns its warnings and errors.
func Lint(dir string, values map[string]any) error {
	var errs []error
	for _, message := range lint.AllWithKubeVersion(dir, values, Release, &kubeVersion).Messages {
		if message.Severity > support.InfoSev {
			errs = append(errs, message)
		}
	}
	return errors.Join(errs...)
}
