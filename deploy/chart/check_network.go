//go:build manifests

package chart

import (
	"net/netip"
	"slices"

	networking "k8s.io/api/networking/v1"

	"github.com/partnergifting/platform/pkg/netguard"
)

// policed says whether the chart guards its network at all, which its values may leave to others.
func (c *checker) policed() []*networking.NetworkPolicy {
	return of[*networking.NetworkPolicy](c.objects)
}

// denied is everything, for every pod: one policy selects them all and allows nothing.
func (c *checker) denied() {
	if len(c.policed()) == 0 {
		return
	}
	for _, policy := range c.policed() {
		if len(policy.Spec.Ingress) == 0 && len(policy.Spec.Egress) == 0 && len(policy.Spec.PolicyTypes) == 2 &&
			len(c.selected(&policy.Spec.PodSelector)) == len(c.pods) {
			return
		}
	}
	c.fault("no NetworkPolicy denies everything to every pod")
}

// policies select pods, name ports that are there, and never allow everything.
func (c *checker) policies() {
	for _, policy := range c.policed() {
		who := "NetworkPolicy " + policy.Name
		own := c.selected(&policy.Spec.PodSelector)
		if len(own) == 0 {
			c.fault("%s selects no pod", who)
		}
		for _, rule := range policy.Spec.Ingress {
			c.peers(who, rule.From)
			c.ports(who, rule.Ports, own)
		}
		for _, rule := range policy.Spec.Egress {
			targets := c.peers(who, rule.To)
			c.ports(who, rule.Ports, targets)
			if len(rule.Ports) == 0 || len(rule.To) == 0 && rule.Ports[0].Port == nil {
				c.fault("%s lets everything out", who)
			}
		}
	}
	for _, p := range c.pods {
		if len(c.policed()) > 0 && !c.resolves(p) {
			c.fault("%s cannot resolve names", p.owner)
		}
	}
}

// peers are the pods of the release among the peers of a rule.
func (c *checker) peers(who string, peers []networking.NetworkPolicyPeer) []pod {
	var found []pod
	for _, peer := range peers {
		if peer.PodSelector == nil || peer.NamespaceSelector != nil {
			continue
		}
		if p, ok := c.one(who, peer.PodSelector); ok {
			found = append(found, p)
		}
	}
	return found
}

// ports that are named are ports of the pods.
func (c *checker) ports(who string, ports []networking.NetworkPolicyPort, of []pod) {
	for _, port := range ports {
		if port.Port == nil || port.Port.IntVal != 0 {
			continue
		}
		for _, p := range of {
			if _, found := p.port(port.Port.StrVal); !found {
				c.fault("%s names the port %s, which %s does not have", who, port.Port.StrVal, p.owner)
			}
		}
	}
}

func (c *checker) resolves(p pod) bool {
	for _, policy := range c.policed() {
		if !slices.ContainsFunc(c.selected(&policy.Spec.PodSelector), func(s pod) bool { return s.owner == p.owner }) {
			continue
		}
		for _, rule := range policy.Spec.Egress {
			if slices.ContainsFunc(rule.Ports, func(port networking.NetworkPolicyPort) bool { return port.Port != nil && port.Port.IntVal == 53 }) {
				return true
			}
		}
	}
	return false
}

// widest is how many bits the prefix of a network has at least that is not the internet.
const widest = 8

// receivers of webhooks are nowhere inside: a way out to the internet leaves out every range that the service refuses.
func (c *checker) receivers() {
	for _, policy := range c.policed() {
		for _, rule := range policy.Spec.Egress {
			for _, peer := range rule.To {
				if peer.IPBlock != nil {
					c.internet(policy.Name, peer.IPBlock)
				}
			}
		}
	}
}

func (c *checker) internet(policy string, block *networking.IPBlock) {
	outside, err := netip.ParsePrefix(block.CIDR)
	if err != nil {
		c.fault("NetworkPolicy %s: %v", policy, err)
		return
	}
	if outside.Bits() >= widest {
		return
	}
	for _, forbidden := range netguard.Forbidden() {
		if outside.Contains(forbidden.Addr()) && !slices.Contains(block.Except, forbidden.String()) {
			c.fault("NetworkPolicy %s lets webhooks out to %s", policy, forbidden)
		}
	}
	for _, except := range block.Except {
		inside, err := netip.ParsePrefix(except)
		if err != nil || !outside.Contains(inside.Addr()) {
			c.fault("NetworkPolicy %s: %s is no part of %s", policy, except, block.CIDR)
		}
	}
}
