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

// selected are the pods that a selector selects. A selector that nobody wrote selects nothing.
func (c *checker) selected(selector *meta.LabelSelector) []pod {
	if selector == nil {
		return nil
	}
	form, err := meta.LabelSelectorAsSelector(selector)
	if err != nil {
		c.fault("%v", err)
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

// one is the pod that a selector selects, of which there must be one Deployment.
func (c *checker) one(who string, selector *meta.LabelSelector) (pod, bool) {
	found := c.selected(selector)
	if len(found) != 1 || found[0].job {
		c.fault("%s selects the pods of %d owners, not of one deployment", who, len(found))
		return pod{}, false
	}
	return found[0], true
}

func (c *checker) deployments() {
	for _, d := range of[*apps.Deployment](c.objects) {
		who := "Deployment " + d.Name
		if p, ok := c.one(who, d.Spec.Selector); ok && p.owner != who {
			c.fault("%s selects the pods of %s", who, p.owner)
		}
		for _, spread := range d.Spec.Template.Spec.TopologySpreadConstraints {
			if p, ok := c.one(who+" spreading", spread.LabelSelector); ok && p.owner != who {
				c.fault("%s spreads itself over the pods of %s", who, p.owner)
			}
		}
	}
}

func (c *checker) services() {
	reached := map[string]bool{}
	for _, s := range of[*core.Service](c.objects) {
		p, ok := c.one("Service "+s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
		if !ok {
			continue
		}
		reached[p.owner] = true
		for _, port := range s.Spec.Ports {
			target, found := p.port(port.TargetPort.String())
			if !found || port.TargetPort.Type != intstr.String {
				c.fault("Service %s leads to the port %s, which %s does not have", s.Name, port.TargetPort.String(), p.owner)
			}
			// Without an address of its own a service cannot translate ports.
			if s.Spec.ClusterIP == core.ClusterIPNone && port.Port != target.ContainerPort {
				c.fault("Service %s: the port %s is another one in the pods", s.Name, port.Name)
			}
		}
	}
	for _, p := range c.pods {
		if !p.job && !reached[p.owner] {
			c.fault("no Service leads to %s", p.owner)
		}
	}
}

func (c *checker) budgets() {
	for _, b := range of[*policy.PodDisruptionBudget](c.objects) {
		c.one("PodDisruptionBudget "+b.Name, b.Spec.Selector)
	}
}

// autoscalers lead to deployments that leave their number to them.
func (c *checker) autoscalers() {
	targets := map[string]bool{}
	for _, h := range of[*autoscaling.HorizontalPodAutoscaler](c.objects) {
		targets[h.Spec.ScaleTargetRef.Name] = true
		if h.Spec.MinReplicas == nil || *h.Spec.MinReplicas > h.Spec.MaxReplicas {
			c.fault("HorizontalPodAutoscaler %s has a minimum above its maximum", h.Name)
		}
	}
	for _, d := range of[*apps.Deployment](c.objects) {
		if targets[d.Name] == (d.Spec.Replicas != nil) {
			c.fault("Deployment %s has a number of its own and an autoscaler, or neither", d.Name)
		}
		delete(targets, d.Name)
	}
	for name := range targets {
		c.fault("a HorizontalPodAutoscaler scales the Deployment %s, which there is not", name)
	}
}

// monitors find every service, and the port they ask.
func (c *checker) monitors() {
	for _, m := range of[*monitoring.ServiceMonitor](c.objects) {
		form, err := meta.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil {
			c.fault("ServiceMonitor %s: %v", m.Name, err)
			continue
		}
		for _, s := range of[*core.Service](c.objects) {
			if !form.Matches(labels.Set(s.Labels)) {
				c.fault("ServiceMonitor %s does not select Service %s", m.Name, s.Name)
			}
			for _, endpoint := range m.Spec.Endpoints {
				if !hasPort(s, endpoint.Port, 0) {
					c.fault("ServiceMonitor %s asks the port %s, which Service %s does not have", m.Name, endpoint.Port, s.Name)
				}
			}
		}
	}
}

// routes from outside lead to a service's port.
func (c *checker) routes() {
	for _, i := range of[*networking.Ingress](c.objects) {
		for _, rule := range i.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				c.leadsTo("Ingress "+i.Name, path.Backend.Service.Name, path.Backend.Service.Port.Name, path.Backend.Service.Port.Number)
			}
		}
	}
	for _, r := range of[*gatewayapi.HTTPRoute](c.objects) {
		for _, rule := range r.Spec.Rules {
			for _, backend := range rule.BackendRefs {
				c.leadsTo("HTTPRoute "+r.Name, string(backend.Name), "", *backend.Port)
			}
		}
	}
}

func (c *checker) leadsTo(who, service, port string, number int32) {
	for _, s := range of[*core.Service](c.objects) {
		if s.Name == service && hasPort(s, port, number) {
			return
		}
	}
	c.fault("%s leads to port %s%d of Service %s, which there is not", who, port, number, service)
}

func hasPort(s *core.Service, name string, number int32) bool {
	for _, port := range s.Spec.Ports {
		if (name != "" && port.Name == name) || (name == "" && port.Port == number) {
			return true
		}
	}
	return false
}
