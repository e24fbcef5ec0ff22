//go:build manifests

package chart

import (
	"errors"
	"fmt"
	"strings"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
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

// Object is one object of Kubernetes, of the type of its kind.
type Object interface {
	meta.Object
}

// Objects of a rendered chart.
type Objects []Object

// All the kinds the chart may make; another one is a fault.
func newObject(kind meta.TypeMeta) Object {
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		return &apps.Deployment{}
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return &autoscaling.HorizontalPodAutoscaler{}
	case "batch/v1 Job":
		return &batch.Job{}
	case "v1 ConfigMap":
		return &core.ConfigMap{}
	case "v1 Service":
		return &core.Service{}
	case "v1 ServiceAccount":
		return &core.ServiceAccount{}
	case "networking.k8s.io/v1 Ingress":
		return &networking.Ingress{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networking.NetworkPolicy{}
	case "policy/v1 PodDisruptionBudget":
		return &policy.PodDisruptionBudget{}
	case "cert-manager.io/v1 Certificate":
		return &certmanager.Certificate{}
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return &monitoring.ServiceMonitor{}
	case "monitoring.coreos.com/v1 PrometheusRule":
		return &monitoring.PrometheusRule{}
	case "gateway.networking.k8s.io/v1 HTTPRoute":
		return &gatewayapi.HTTPRoute{}
	default:
		return nil
	}
}

var errKind = errors.New("the chart makes no objects of this kind")

// decode reads a rendered file. A field that Kubernetes does not know, or knows as another type, is a fault.
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
		object := newObject(kind)
		if object == nil {
			return nil, fmt.Errorf("%w: %s %s", errKind, kind.APIVersion, kind.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// of are the objects of one kind.
func of[T Object](objects Objects) []T {
	var found []T
	for _, object := range objects {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// kindOf is the kind of an object, as a fault names it.
func kindOf(object Object) string {
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndexByte(name, '.')+1:]
}
