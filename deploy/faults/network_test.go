//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// The classes of links, by what they lead to.
const (
	toPostgres  = "PostgreSQL"
	toRedis     = "Redis"
	toKafka     = "Kafka"
	toServices  = "a service"
	toGateways  = "a gateway"
	toReceivers = "the receivers"
)

// network is a proxy in front of whatever somebody connects to, so that connections can be cut and slowed down.
type network struct {
	server *toxiproxy.ApiServer
	next   int
	links  []*link
}

// link is the way of one part to another.
type link struct {
	// class is what all links to the same kind of part have in common.
	class string
	name  string
	// busy is held by the one fault that is under way with this link.
	busy  sync.Mutex
	proxy *toxiproxy.Proxy
}

// newNetwork gives its links the ports from the first on.
func newNetwork(t *testing.T, first int) *network {
	t.Helper()
	n := &network{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), next: first}
	t.Cleanup(func() {
		for _, l := range n.links {
			l.proxy.Stop()
		}
	})
	return n
}

// to gives the address of a new proxy in front of target. No network is the straight way.
func (n *network) to(t *testing.T, class, name, target string) string {
	t.Helper()
	if n == nil {
		return target
	}
	listen := loopback(n.next)
	n.next++
	l := &link{class: class, name: name, proxy: toxiproxy.NewProxy(n.server, name, listen, target)}
	require.NoError(t, l.proxy.Start())
	n.links = append(n.links, l)
	return listen
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// cut closes all connections and refuses new ones.
func (l *link) cut() { l.proxy.Stop() }

func (l *link) mend() error { return l.proxy.Start() }

// silence lets connections stand on which nothing arrives any more; they are closed in the end.
func (l *link) silence() error { return l.add("timeout", `{"timeout": 0}`) }

// slow delays what is sent, either way.
func (l *link) slow(milliseconds int64) error {
	return l.add("latency", fmt.Sprintf(`{"latency": %d, "jitter": %d}`, milliseconds, milliseconds/2))
}

func (l *link) add(kind, attributes string) error {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": %s}`, kind+" "+stream, kind, stream, attributes)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return err
		}
	}
	return nil
}

// clear ends silence and slowness.
func (l *link) clear(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }
