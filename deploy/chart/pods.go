//go:build manifests

package chart

import (
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// pod is what a Deployment or a Job makes.
type pod struct {
	owner  string
	job    bool
	labels labels.Set
	spec   core.PodSpec
}

func pods(objects Objects) []pod {
	var all []pod
	for _, d := range of[*apps.Deployment](objects) {
		all = append(all, pod{owner: "Deployment " + d.Name, labels: d.Spec.Template.Labels, spec: d.Spec.Template.Spec})
	}
	for _, j := range of[*batch.Job](objects) {
		all = append(all, pod{owner: "Job " + j.Name, job: true, labels: j.Spec.Template.Labels, spec: j.Spec.Template.Spec})
	}
	return all
}

// port finds a port of the pod's containers by name.
func (p pod) port(name string) (core.ContainerPort, bool) {
	for _, c := range p.spec.Containers {
		for _, port := range c.Ports {
			if port.Name == name {
				return port, true
			}
		}
	}
	return core.ContainerPort{}, false
}

// program is the name of the program a container runs.
func program(c core.Container) string {
	if len(c.Command) != 1 || len(c.Command[0]) < 2 {
		return ""
	}
	return c.Command[0][1:]
}

// value of a variable that stands in the open.
func value(c core.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}
