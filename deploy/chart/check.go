//go:build manifests

package chart

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/partnergifting/platform/deploy/programs"
)

// checker collects what is wrong with the objects of a rendered chart.
type checker struct {
	objects  Objects
	pods     []pod
	programs map[string]programs.Program
	faults   []string
}

// Check says what is wrong with the objects of a rendered chart; nothing, if nothing is.
func Check(objects Objects) ([]string, error) {
	c := &checker{objects: objects, pods: pods(objects), programs: map[string]programs.Program{}}
	for _, p := range programs.All() {
		c.programs[string(p.Name)] = p
	}
	for _, rule := range []func(){
		c.names,
		c.restricted, c.images, c.resources, c.volumes,
		c.probes, c.ends,
		c.environments, c.secrets,
		c.deployments, c.services, c.budgets, c.autoscalers, c.monitors, c.routes,
		c.denied, c.policies, c.graph, c.receivers,
		c.certificates, c.renewals,
		c.hooks,
	} {
		rule()
	}
	slices.Sort(c.faults)
	return slices.Compact(c.faults), nil
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// names are what the API server takes, and there are no two objects of one name and kind.
func (c *checker) names() {
	seen := map[string]bool{}
	for _, object := range c.objects {
		name := kindOf(object) + " " + object.GetName()
		if seen[name] {
			c.fault("%s is there twice", name)
		}
		seen[name] = true
		if len(validation.IsDNS1123Subdomain(object.GetName())) > 0 || len(object.GetName()) > validation.DNS1123LabelMaxLength {
			c.fault("%s: this is no name", name)
		}
		if object.GetNamespace() != "" {
			c.fault("%s leaves the namespace of its release", name)
		}
		for label, value := range object.GetLabels() {
			if len(validation.IsQualifiedName(label)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
				c.fault("%s: %s: %s is no label", name, label, value)
			}
		}
	}
}
