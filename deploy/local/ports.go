package local

import (
	"net"
	"strconv"

	"github.com/partnergifting/platform/pkg/identity"
)

// offset is the place of a port behind Config.PortBase.
type offset int

// The ports of the stack. Each service answers /metrics, /livez and /readyz ten ports above its gRPC port, the gateway
// ten above its own.
const (
	portGateway       offset = 0
	portTenants       offset = 1
	portCatalog       offset = 2
	portOrders        offset = 3
	portPersonalLinks offset = 4
	portEvents        offset = 5
	portWebhook       offset = 6

	toMetrics offset = 10

	portInbox    offset = 20
	portPostgres offset = 30
	portRedis    offset = 31
	portKafka    offset = 32

	// PortSpan is how many ports from the base on belong to the stack.
	PortSpan = 33

	maxPort = 65536
)

// portOf gives the port of a part.
func portOf(name identity.Name) offset {
	return map[identity.Name]offset{
		identity.Gateway: portGateway, identity.Tenants: portTenants, identity.Catalog: portCatalog, identity.Orders: portOrders,
		identity.PersonalLinks: portPersonalLinks, identity.Events: portEvents, identity.Webhook: portWebhook,
	}[name]
}

func (c Config) port(o offset) int { return c.PortBase + int(o) }

func (c Config) addr(o offset) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port(o)))
}

// publicURL is the base address of the API.
func (c Config) publicURL() string { return "http://" + c.addr(portGateway) + "/api/public/v1" }

// claimURL is the address of the gift site in front of a token.
func (c Config) claimURL() string { return "http://" + c.addr(portGateway) + "/c" }

func (c Config) inboxURL() string { return "http://" + c.addr(portInbox) }
