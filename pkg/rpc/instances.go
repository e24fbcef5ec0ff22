package rpc

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
)

const instancesScheme = "instances"

// instances resolves the instances of a service from its addresses: host:port, separated by commas.
// Each host is a name of which DNS knows all instances, as of a headless service, or an address of
// one instance. One name and a list of addresses are the same thing to it.
type instances struct{}

var _ resolver.AuthorityOverrider = instances{}

// Scheme implements resolver.Builder.
func (instances) Scheme() string { return instancesScheme }

// OverrideAuthority returns the first address: a list is not a valid authority.
func (instances) OverrideAuthority(target resolver.Target) string {
	first, _, _ := strings.Cut(target.Endpoint(), ",")
	return first
}

// Build implements resolver.Builder.
func (instances) Build(target resolver.Target, cc resolver.ClientConn, opts resolver.BuildOptions) (resolver.Resolver, error) {
	all := &allNames{conn: cc}
	for addr := range strings.SplitSeq(target.Endpoint(), ",") {
		all.names = append(all.names, &oneName{all: all, addr: addr})
	}
	for _, name := range all.names {
		of := resolver.Target{URL: url.URL{Scheme: "dns", Path: "/" + name.addr}}
		resolving, err := resolver.Get("dns").Build(of, name, opts)
		if err != nil {
			all.Close()
			return nil, err
		}
		name.resolving = resolving
	}
	return all, nil
}

// allNames reports to the connection what all its names resolve to.
type allNames struct {
	conn  resolver.ClientConn
	names []*oneName

	lock sync.Mutex
}

// ResolveNow implements resolver.Resolver.
func (a *allNames) ResolveNow(opts resolver.ResolveNowOptions) {
	for _, name := range a.names {
		name.resolving.ResolveNow(opts)
	}
}

// Close implements resolver.Resolver.
func (a *allNames) Close() {
	for _, name := range a.names {
		if name.resolving != nil {
			name.resolving.Close()
		}
	}
}

// report passes all known endpoints to the connection. The lock is held, so that the newest is passed last.
func (a *allNames) report() error {
	var known []resolver.Endpoint
	for _, name := range a.names {
		known = append(known, name.endpoints...)
	}
	return a.conn.UpdateState(resolver.State{Endpoints: known})
}

// oneName is what the resolver of one name reports to.
type oneName struct {
	all       *allNames
	addr      string
	resolving resolver.Resolver
	endpoints []resolver.Endpoint
}

// UpdateState implements resolver.ClientConn.
func (n *oneName) UpdateState(state resolver.State) error {
	n.all.lock.Lock()
	defer n.all.lock.Unlock()
	n.endpoints = nil
	for _, found := range state.Endpoints {
		addrs := slices.Clone(found.Addresses)
		for i := range addrs {
			addrs[i].ServerName = n.addr // A certificate is for the name, and not for the list.
		}
		n.endpoints = append(n.endpoints, resolver.Endpoint{Addresses: addrs, Attributes: found.Attributes})
	}
	return n.all.report()
}

// ReportError keeps what the name resolved to before. The connection is told only when it has nothing at all.
func (n *oneName) ReportError(err error) {
	n.all.lock.Lock()
	defer n.all.lock.Unlock()
	if !slices.ContainsFunc(n.all.names, func(name *oneName) bool { return len(name.endpoints) > 0 }) {
		n.all.conn.ReportError(err)
	}
}

// NewAddress implements resolver.ClientConn; no resolver calls it any more.
func (n *oneName) NewAddress(addrs []resolver.Address) {
	_ = n.UpdateState(resolver.State{Endpoints: []resolver.Endpoint{{Addresses: addrs}}})
}

var errNoServiceConfig = errors.New("service configurations come from this package only")

// ParseServiceConfig implements resolver.ClientConn.
func (n *oneName) ParseServiceConfig(string) *serviceconfig.ParseResult {
	return &serviceconfig.ParseResult{Err: errNoServiceConfig}
}
