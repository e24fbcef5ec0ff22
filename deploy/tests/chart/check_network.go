//go:build manifests

package chart

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/partnergifting/platform/pkg/netguard"
)

// networkPolicies is empty if the values switch the policies off.
func (c *checker) networkPolicies() []*networking.NetworkPolicy {
	return ofKind[*networking.NetworkPolicy](c.objects)
}

// defaultDeny checks that one policy selects every pod and allows nothing.
func (c *checker) defaultDeny() {
	for _, policy := range c.networkPolicies() {
		if len(policy.Spec.Ingress) == 0 && len(policy.Spec.Egress) == 0 && len(policy.Spec.PolicyTypes) == 2 &&
			len(c.selected(&policy.Spec.PodSelector)) == len(c.pods) {
			return
		}
	}
	if len(c.networkPolicies()) > 0 {
		c.report("no NetworkPolicy denies everything to every pod")
	}
}

// policies checks that the policies select pods, name existing ports, never allow everything, and let every pod resolve names.
func (c *checker) policies() {
	resolves := map[string]bool{}
	for _, policy := range c.networkPolicies() {
		own := c.selected(&policy.Spec.PodSelector)
		if len(own) == 0 {
			c.report("%s selects no pod", title(policy))
		}
		for _, rule := range policy.Spec.Ingress {
			c.peers(policy, rule.From)
			c.ports(policy, rule.Ports, own)
		}
		for _, rule := range policy.Spec.Egress {
			c.ports(policy, rule.Ports, c.peers(policy, rule.To))
			if len(rule.Ports) == 0 || len(rule.To) == 0 && rule.Ports[0].Port == nil {
				c.report("%s lets everything out", title(policy))
			}
			for _, p := range own {
				dns := func(port networking.NetworkPolicyPort) bool { return port.Port != nil && port.Port.IntVal == 53 }
				resolves[p.owner] = resolves[p.owner] || slices.ContainsFunc(rule.Ports, dns)
			}
		}
	}
	for _, p := range c.pods {
		if len(c.networkPolicies()) > 0 && !resolves[p.owner] {
			c.report("%s cannot resolve names", p.owner)
		}
	}
}

// peers are the pods of the release among the peers of a rule.
func (c *checker) peers(policy *networking.NetworkPolicy, peers []networking.NetworkPolicyPeer) []pod {
	var found []pod
	for _, peer := range peers {
		if peer.PodSelector == nil || peer.NamespaceSelector != nil {
			continue
		}
		selected := c.selected(peer.PodSelector)
		if len(selected) == 1 && selected[0].test {
			found = append(found, selected[0])
		} else if p, ok := c.one(title(policy), selected); ok {
			found = append(found, p)
		}
	}
	return found
}

// ports checks that named ports are ports of the pods.
func (c *checker) ports(policy *networking.NetworkPolicy, ports []networking.NetworkPolicyPort, pods []pod) {
	for _, port := range ports {
		for _, p := range pods {
			if port.Port == nil || port.Port.IntVal != 0 {
				continue
			}
			if _, found := p.port(port.Port.StrVal); !found {
				c.report("%s names the port %s, which %s does not have", title(policy), port.Port.StrVal, p.owner)
			}
		}
	}
}

// graph compares the policies with the addresses in the environments: a program may reach the programs it calls and no
// others, and each address is that of a service.
func (c *checker) graph() {
	calls, allowed, admitted := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range c.pods {
		for _, address := range c.addresses(p) {
			if callee, ok := c.behind(p.owner, address); ok {
				calls[p.owner+" -> "+callee] = true
			}
		}
	}
	for _, policy := range c.networkPolicies() {
		for _, p := range c.selected(&policy.Spec.PodSelector) {
			for _, rule := range policy.Spec.Egress {
				for _, callee := range c.peers(policy, rule.To) {
					allowed[p.owner+" -> "+callee.owner] = true
				}
			}
			for _, rule := range policy.Spec.Ingress {
				for _, caller := range c.peers(policy, rule.From) {
					admitted[caller.owner+" -> "+p.owner] = true
				}
				for call := range calls {
					if letsAnyoneCall(rule) && strings.HasSuffix(call, " -> "+p.owner) {
						admitted[call] = true
					}
				}
			}
		}
	}
	if len(c.networkPolicies()) == 0 {
		return
	}
	c.missing("is called but not let out", calls, allowed)
	c.missing("is let out but not called", allowed, calls)
	c.missing("is called but not let in", calls, admitted)
	c.missing("is let in but not called", admitted, calls)
}

// letsAnyoneCall reports whether a rule names no peer and a port at which the program is called.
func letsAnyoneCall(rule networking.NetworkPolicyIngressRule) bool {
	called := func(port networking.NetworkPolicyPort) bool { return port.Port == nil || port.Port.StrVal != "metrics" }
	return len(rule.From) == 0 && slices.ContainsFunc(rule.Ports, called)
}

// missing reports the members of set that are not in other.
func (c *checker) missing(what string, set, other map[string]bool) {
	for entry := range set {
		if !other[entry] {
			c.report("%s: %s", entry, what)
		}
	}
}

// addresses returns the addresses that a program calls in the release; an address to listen on has no host. The tenants service of
// a further cell is elsewhere.
func (c *checker) addresses(p pod) []string {
	if p.test {
		called, err := url.Parse(p.flag("url"))
		if err != nil {
			return []string{p.flag("url")}
		}
		return []string{called.Host}
	}
	var all []string
	for _, v := range p.container.Env {
		if c.further != "" && v.Name == "GIFTING_TENANTS_ADDR" {
			continue
		}
		if !p.job && strings.HasPrefix(v.Name, "GIFTING_") && strings.HasSuffix(v.Name, "_ADDR") && !strings.HasPrefix(v.Value, ":") {
			all = append(all, v.Value)
		}
	}
	return all
}

// behind returns the deployment behind an address.
func (c *checker) behind(caller, address string) (string, bool) {
	host, port, err := net.SplitHostPort(address)
	number, portErr := strconv.Atoi(port)
	for _, s := range ofKind[*core.Service](c.objects) {
		if err == nil && portErr == nil && s.Name == host && hasPort(s, "", int32(number)) { //nolint:gosec // A port.
			p, ok := c.one(title(s), c.selectedBy(s.Spec.Selector))
			return p.owner, ok
		}
	}
	c.report("%s calls %s, which is not a service", caller, address)
	return "", false
}

// shortestPrivate is the length of the shortest prefix that is not the whole internet.
const shortestPrivate = 8

// internet checks that a policy that lets webhooks out to the internet excludes every range that the webhook service refuses.
func (c *checker) internet() {
	for _, policy := range c.networkPolicies() {
		for _, rule := range policy.Spec.Egress {
			for _, peer := range rule.To {
				if peer.IPBlock == nil {
					continue
				}
				outside, err := netip.ParsePrefix(peer.IPBlock.CIDR)
				if err != nil {
					c.report("%s: %v", title(policy), err)
				}
				for _, forbidden := range netguard.Forbidden() {
					if outside.Bits() < shortestPrivate && outside.Contains(forbidden.Addr()) &&
						!slices.Contains(peer.IPBlock.Except, forbidden.String()) {
						c.report("%s lets webhooks out to %s", title(policy), forbidden)
					}
				}
			}
		}
	}
}
