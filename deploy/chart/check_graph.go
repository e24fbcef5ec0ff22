//go:build manifests

package chart

import (
	"net"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// graph holds the network against the addresses in the environments: a part may reach whom it dials and nobody else of the
// release, and each address is that of a service.
func (c *checker) graph() {
	var dials, allowed, taken []string
	for _, p := range c.pods {
		if p.job {
			continue
		}
		for _, address := range addresses(p.spec.Containers[0]) {
			if callee, ok := c.behind(p.owner, address); ok {
				dials = append(dials, p.owner+" -> "+callee)
			}
		}
	}
	if len(c.policed()) == 0 {
		return
	}
	for _, policy := range c.policed() {
		for _, p := range c.selected(&policy.Spec.PodSelector) {
			for _, rule := range policy.Spec.Egress {
				for _, callee := range c.peers("NetworkPolicy "+policy.Name, rule.To) {
					allowed = append(allowed, p.owner+" -> "+callee.owner)
				}
			}
			for _, caller := range c.callers(policy) {
				taken = append(taken, caller.owner+" -> "+p.owner)
			}
		}
	}
	c.same("dials and may not", dials, allowed)
	c.same("may, and does not dial", allowed, dials)
	c.same("dials and is not let in", dials, taken)
	c.same("is let in, and does not dial", taken, dials)
}

// same faults what is in one list and not in the other.
func (c *checker) same(what string, list, other []string) {
	for _, entry := range list {
		if !slices.Contains(other, entry) {
			c.fault("%s: %s", entry, what)
		}
	}
}

func (c *checker) callers(policy *networking.NetworkPolicy) []pod {
	var all []pod
	for _, rule := range policy.Spec.Ingress {
		all = append(all, c.peers("NetworkPolicy "+policy.Name, rule.From)...)
	}
	return all
}

// addresses are what a program dials; where it listens has no host.
func addresses(container core.Container) []string {
	var all []string
	for _, v := range container.Env {
		if strings.HasPrefix(v.Name, "GIFTING_") && strings.HasSuffix(v.Name, "_ADDR") && !strings.HasPrefix(v.Value, ":") {
			all = append(all, v.Value)
		}
	}
	return all
}

// behind is the deployment that answers at an address.
func (c *checker) behind(who, address string) (string, bool) {
	host, port, err := net.SplitHostPort(address)
	number, atoi := strconv.Atoi(port)
	for _, s := range of[*core.Service](c.objects) {
		if err == nil && atoi == nil && s.Name == host && hasPort(s, "", int32(number)) { //nolint:gosec // A port.
			p, ok := c.one("Service "+s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
			return p.owner, ok
		}
	}
	c.fault("%s dials %s, which is no service", who, address)
	return "", false
}
