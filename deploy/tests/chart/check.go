//go:build manifests

package chart

import (
	"cmp"
	"fmt"
	"slices"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/partnergifting/platform/deploy/programs"
)

// checker collects the problems of a rendered chart.
type checker struct {
	objects  Objects
	pods     []pod
	programs map[string]programs.Program
	problems []string
	// further is the letter of a further cell, which has neither gateway nor tenants; empty: it is the first one.
	further string
}

// Check returns the problems of a rendered chart.
func Check(objects Objects) []string {
	c := &checker{objects: objects, pods: pods(objects), programs: map[string]programs.Program{}}
	for _, p := range c.pods {
		c.further = cmp.Or(c.further, p.value("GIFTING_CELL"))
	}
	for _, p := range programs.All() {
		if c.further == "" || p.Name.InCells() {
			c.programs[string(p.Name)] = p
		}
	}
	for _, rule := range []func(){
		c.labels, c.names,
		c.isolated, c.mounts, c.authorities, c.files, c.probes, c.gracePeriods,
		c.environments, c.secrets,
		c.deployments, c.services, c.budgets, c.autoscalers, c.monitors, c.routes,
		c.defaultDeny, c.policies, c.graph, c.internet,
		c.certificates,
		c.hooks, c.helmTests,
	} {
		rule()
	}
	slices.Sort(c.problems)
	return slices.Compact(c.problems)
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// names checks that names of objects are valid and that those of Services and Jobs, which are also labels of DNS or of pods, are
// short enough.
func (c *checker) names() {
	for _, object := range c.objects {
		check := validation.IsDNS1123Subdomain
		switch object.(type) {
		case *core.Service:
			check = validation.IsDNS1035Label
		case *batch.Job:
			check = validation.IsDNS1123Label
		}
		for _, problem := range check(object.GetName()) {
			c.report("%s: %s", title(object), problem)
		}
	}
}

// labels checks that labels are valid, because some contain values of any length.
func (c *checker) labels() {
	for _, object := range c.objects {
		for label, value := range object.GetLabels() {
			if len(validation.IsQualifiedName(label)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
				c.report("%s: %s: %s is not a label", title(object), label, value)
			}
		}
	}
}
