//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// The classes of routes, by their target.
const (
	toPostgres  = "PostgreSQL"
	toRedis     = "Redis"
	toKafka     = "Kafka"
	toServices  = "a service"
	toGateways  = "a gateway"
	toReceivers = "the receivers"
)

// network has a proxy on every route between the parts of a deployment, which can cut the route or slow it down.
type network struct {
	server *toxiproxy.ApiServer
	next   int
	routes []*route
}

type route struct {
	class, name string
	// busy is held by the fault that uses the route.
	busy  sync.Mutex
	proxy *toxiproxy.Proxy
}

// newNetwork uses ports from the first on.
func newNetwork(t *testing.T, first int) *network {
	t.Helper()
	n := &network{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), next: first}
	t.Cleanup(func() {
		for _, r := range n.routes {
			r.proxy.Stop()
		}
	})
	return n
}

// to returns the address of a new proxy in front of the target, or the target itself if there is no network.
func (n *network) to(t *testing.T, class, name, target string) string {
	t.Helper()
	if n == nil {
		return target
	}
	listen := loopback(n.next)
	n.next++
	r := &route{class: class, name: name, proxy: toxiproxy.NewProxy(n.server, name, listen, target)}
	require.NoError(t, r.proxy.Start())
	n.routes = append(n.routes, r)
	return listen
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// of returns the routes of a class.
func (n *network) of(class string) []*route {
	return slices.DeleteFunc(slices.Clone(n.routes), func(r *route) bool { return r.class != class })
}

// cut closes all connections and refuses new ones.
func (r *route) cut() { r.proxy.Stop() }

func (r *route) restore() error { return r.proxy.Start() }

// bothWays are the streams of a route.
var bothWays = []string{"upstream", "downstream"}

// silence keeps connections open but passes no data; clear closes them.
func (r *route) silence() error { return r.add("timeout", `{"timeout": 0}`, bothWays...) }

// slow delays data in both directions.
func (r *route) slow(milliseconds int64) error {
	return r.delay(milliseconds, milliseconds/2, bothWays...)
}

// delay delays data of some streams.
func (r *route) delay(milliseconds, jitter int64, streams ...string) error {
	return r.add("latency", fmt.Sprintf(`{"latency": %d, "jitter": %d}`, milliseconds, jitter), streams...)
}

func (r *route) add(kind, attributes string, streams ...string) error {
	for _, stream := range streams {
		toxic := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": %s}`, kind+" "+stream, kind, stream, attributes)
		if _, err := r.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return err
		}
	}
	return nil
}

// clear ends silence and delays.
func (r *route) clear(ctx context.Context) error {
	r.proxy.Toxics.ResetToxics(ctx)
	return nil
}
