//go:build manifests

package chart

import (
	"slices"
	"strings"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/partnergifting/platform/deploy/programs"
)

// pod is the pod of a Deployment or a Job, or that of `helm test`. It has one container, which runs one program.
type pod struct {
	owner     string
	job, test bool
	labels    labels.Set
	spec      core.PodSpec
	container core.Container
}

func pods(objects Objects) []pod {
	var all []pod
	for _, d := range ofKind[*apps.Deployment](objects) {
		all = append(all, pod{owner: title(d), labels: d.Spec.Template.Labels, spec: d.Spec.Template.Spec})
	}
	for _, j := range ofKind[*batch.Job](objects) {
		all = append(all, pod{owner: title(j), job: true, labels: j.Spec.Template.Labels, spec: j.Spec.Template.Spec})
	}
	for _, p := range ofKind[*core.Pod](objects) {
		all = append(all, pod{owner: title(p), test: true, labels: p.Labels, spec: p.Spec})
	}
	for i := range all {
		all[i].container = all[i].spec.Containers[0]
	}
	return all
}

// serves reports whether the pod runs until it is stopped.
func (p pod) serves() bool { return !p.job && !p.test }

// port finds a port of the pod by name.
func (p pod) port(name string) (core.ContainerPort, bool) {
	at := slices.IndexFunc(p.container.Ports, func(port core.ContainerPort) bool { return port.Name == name })
	if at < 0 {
		return core.ContainerPort{}, false
	}
	return p.container.Ports[at], true
}

// program is the name of the program that the pod runs.
func (p pod) program() string {
	if len(p.container.Command) != 1 || len(p.container.Command[0]) < 2 {
		return ""
	}
	return p.container.Command[0][1:]
}

// value returns the value of a variable in plain text.
func (p pod) value(name string) string {
	for _, v := range p.container.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// flag returns the value of an argument --name=value.
func (p pod) flag(name string) string {
	for _, arg := range p.container.Args {
		if value, found := strings.CutPrefix(arg, "--"+name+"="); found {
			return value
		}
	}
	return ""
}

func (p pod) variables() []programs.Variable {
	var all []programs.Variable
	for _, v := range p.container.Env {
		all = append(all, programs.Variable{Name: v.Name, Value: v.Value, Secret: v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil})
	}
	return all
}

// Environment of a pod.
type Environment struct {
	// Owner is the Deployment or Job.
	Owner     string
	Program   string
	Variables []programs.Variable
}

// Environments returns the environments of all pods that run programs of the platform.
func Environments(objects Objects) []Environment {
	var all []Environment
	for _, p := range pods(objects) {
		if p.test {
			continue
		}
		all = append(all, Environment{Owner: p.owner, Program: p.program(), Variables: p.variables()})
	}
	return all
}
