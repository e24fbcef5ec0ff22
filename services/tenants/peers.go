package tenants

import (
	"errors"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Peers are the other services that hold data of tenants. They are called only to erase and export it, and the
// catalog for its currencies. The service starts and is
// ready without them, because every request of the gateway depends on it. An address may be missing: then what needs the
// service is refused.
type Peers struct {
	CatalogAddr       string `env:"CATALOG_ADDR" check:"hostports" doc:"The catalog service, to erase and export data, and for its currencies: a DNS name of all instances, or their addresses."`
	OrdersAddr        string `env:"ORDERS_ADDR" check:"hostports" doc:"The orders service, to erase and export data: a DNS name of all instances, or their addresses."`
	PersonalLinksAddr string `env:"PERSONAL_LINKS_ADDR" check:"hostports" doc:"The personal-links service, to erase and export data: a DNS name of all instances, or their addresses."`
	EventsAddr        string `env:"EVENTS_ADDR" check:"hostports" doc:"The events service, to erase and export data: a DNS name of all instances, or their addresses."`
	WebhookAddr       string `env:"WEBHOOK_ADDR" check:"hostports" doc:"The webhook service, to erase and export data: a DNS name of all instances, or their addresses."`
}

// peers are the connections to the services whose address is known.
type peers map[identity.Name]*grpc.ClientConn

// dial connects to no service. A connection is opened by its first call.
func (p Peers) dial(tls identity.Config, tel *telemetry.Telemetry) (peers, error) {
	conns := peers{}
	for name, addr := range map[identity.Name]string{
		identity.Catalog: p.CatalogAddr, identity.Orders: p.OrdersAddr, identity.PersonalLinks: p.PersonalLinksAddr,
		identity.Events: p.EventsAddr, identity.Webhook: p.WebhookAddr,
	} {
		if addr == "" {
			continue
		}
		conn, err := rpc.Dial(rpc.Target{Service: name, Addr: addr, TLS: tls}, tel)
		if err != nil {
			return nil, errors.Join(err, conns.close())
		}
		conns[name] = conn
	}
	return conns, nil
}

func (p peers) close() error {
	var errs []error
	for _, conn := range p {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
