//go:build manifests

package chart

import (
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	gatewayapi "sigs.k8s.io/gateway-api/apis/v1"
)

// selected returns the pods that a selector selects. A missing selector selects nothing.
func (c *checker) selected(selector *meta.LabelSelector) []pod {
	form, err := meta.LabelSelectorAsSelector(selector)
	if err != nil {
		c.report("%v", err)
		return nil
	}
	var found []pod
	for _, p := range c.pods {
		if form.Matches(p.labels) {
			found = append(found, p)
		}
	}
	return found
}

func (c *checker) selectedBy(selector map[string]string) []pod {
	return c.selected(&meta.LabelSelector{MatchLabels: selector})
}

// one returns the pod of the only Deployment among them, and reports any other selection.
func (c *checker) one(who string, found []pod) (pod, bool) {
	if len(found) != 1 || !found[0].serves() {
		c.report("%s selects the pods of %d owners, not of one deployment", who, len(found))
		return pod{}, false
	}
	return found[0], true
}

func (c *checker) deployments() {
	for _, d := range ofKind[*apps.Deployment](c.objects) {
		if p, ok := c.one(title(d), c.selected(d.Spec.Selector)); ok && p.owner != title(d) {
			c.report("%s selects the pods of %s", title(d), p.owner)
		}
		for _, spread := range d.Spec.Template.Spec.TopologySpreadConstraints {
			if p, ok := c.one(title(d)+" spreading", c.selected(spread.LabelSelector)); ok && p.owner != title(d) {
				c.report("%s spreads itself over the pods of %s", title(d), p.owner)
			}
		}
	}
}

func (c *checker) services() {
	reached := map[string]bool{}
	for _, s := range ofKind[*core.Service](c.objects) {
		p, ok := c.one(title(s), c.selectedBy(s.Spec.Selector))
		if !ok {
			continue
		}
		reached[p.owner] = true
		for _, port := range s.Spec.Ports {
			target, found := p.port(port.TargetPort.String())
			if !found || port.TargetPort.Type != intstr.String {
				c.report("%s leads to the port %s, which %s does not have", title(s), port.TargetPort.String(), p.owner)
			}
			// A headless service cannot translate ports.
			if s.Spec.ClusterIP == core.ClusterIPNone && port.Port != target.ContainerPort {
				c.report("%s: the port %s has another number in the pods", title(s), port.Name)
			}
		}
	}
	for _, p := range c.pods {
		if p.serves() && !reached[p.owner] {
			c.report("no Service leads to %s", p.owner)
		}
	}
}

func (c *checker) budgets() {
	for _, b := range ofKind[*policy.PodDisruptionBudget](c.objects) {
		c.one(title(b), c.selected(b.Spec.Selector))
	}
}

// autoscalers checks that autoscalers scale deployments that do not set their number of replicas.
func (c *checker) autoscalers() {
	targets := map[string]bool{}
	for _, h := range ofKind[*autoscaling.HorizontalPodAutoscaler](c.objects) {
		targets[h.Spec.ScaleTargetRef.Name] = true
	}
	for _, d := range ofKind[*apps.Deployment](c.objects) {
		if targets[d.Name] && d.Spec.Replicas != nil {
			c.report("%s has a number of replicas and an autoscaler", title(d))
		}
		delete(targets, d.Name)
	}
	for name := range targets {
		c.report("a HorizontalPodAutoscaler scales the Deployment %s, which does not exist", name)
	}
}

// monitors checks that every service is selected, with an existing port.
func (c *checker) monitors() {
	for _, m := range ofKind[*monitoring.ServiceMonitor](c.objects) {
		form := labels.SelectorFromSet(m.Spec.Selector.MatchLabels)
		for _, s := range ofKind[*core.Service](c.objects) {
			if !form.Matches(labels.Set(s.Labels)) {
				c.report("%s does not select %s", title(m), title(s))
			}
			for _, endpoint := range m.Spec.Endpoints {
				if !hasPort(s, endpoint.Port, 0) {
					c.report("%s uses the port %s, which %s does not have", title(m), endpoint.Port, title(s))
				}
			}
		}
	}
}

// routes checks that routes from outside lead to a port of a service.
func (c *checker) routes() {
	for _, i := range ofKind[*networking.Ingress](c.objects) {
		for _, rule := range i.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				c.leadsTo(i, path.Backend.Service.Name, path.Backend.Service.Port.Name, path.Backend.Service.Port.Number)
			}
		}
	}
	for _, r := range ofKind[*gatewayapi.HTTPRoute](c.objects) {
		for _, rule := range r.Spec.Rules {
			for _, backend := range rule.BackendRefs {
				c.leadsTo(r, string(backend.Name), "", *backend.Port)
			}
		}
	}
}

func (c *checker) leadsTo(route meta.Object, service, port string, number int32) {
	for _, s := range ofKind[*core.Service](c.objects) {
		if s.Name == service && hasPort(s, port, number) {
			return
		}
	}
	c.report("%s leads to port %s%d of Service %s, which does not exist", title(route), port, number, service)
}

func hasPort(s *core.Service, name string, number int32) bool {
	for _, port := range s.Spec.Ports {
		if (name != "" && port.Name == name) || (name == "" && port.Port == number) {
			return true
		}
	}
	return false
}
