package tenants

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// Peers are the other services that hold data of tenants. They are called only to erase and export it, and the catalog also for its
// currencies. This service starts and is ready without them, because every request of the gateway depends on it. An address may be
// missing: calls that need that peer are then refused.
type Peers struct {
	CatalogAddr       string `env:"CATALOG_ADDR" check:"hostports" doc:"The catalog service, to erase and export data, and for its currencies: a DNS name of all instances, or their addresses."`
	OrdersAddr        string `env:"ORDERS_ADDR" check:"hostports" doc:"The orders service, to erase and export data: a DNS name of all instances, or their addresses."`
	PersonalLinksAddr string `env:"PERSONAL_LINKS_ADDR" check:"hostports" doc:"The personal-links service, to erase and export data: a DNS name of all instances, or their addresses."`
	EventsAddr        string `env:"EVENTS_ADDR" check:"hostports" doc:"The events service, to erase and export data: a DNS name of all instances, or their addresses."`
	WebhookAddr       string `env:"WEBHOOK_ADDR" check:"hostports" doc:"The webhook service, to erase and export data: a DNS name of all instances, or their addresses."`
}

// peers are the connections to the services whose address is known, in all cells.
type peers map[identity.Name]grpc.ClientConnInterface

// dial waits for no service: a connection is opened by its first call.
func (p Peers) dial(cells *service.Cells) (peers, error) {
	conns := peers{}
	for name, addr := range map[identity.Name]string{
		identity.Catalog: p.CatalogAddr, identity.Orders: p.OrdersAddr, identity.PersonalLinks: p.PersonalLinksAddr,
		identity.Events: p.EventsAddr, identity.Webhook: p.WebhookAddr,
	} {
		if addr == "" {
			continue
		}
		conn, err := cells.Dial(name, addr)
		if err != nil {
			return nil, err
		}
		conns[name] = conn
	}
	return conns, nil
}

// holders are the services that store data of tenants in a cell. Those that make changes come first, then those that read them.
func (p peers) holders(cell string) []offboarding.Holder {
	var holders []offboarding.Holder
	for _, name := range []identity.Name{
		identity.PersonalLinks, identity.Orders, identity.Catalog, identity.Events, identity.Webhook,
	} {
		holders = append(holders, offboarding.Holder{Name: name, Cell: cell, Data: privacyv1.NewTenantDataServiceClient(p.to(name))})
	}
	return holders
}

// holdersOfAll are those of all cells.
func (p peers) holdersOfAll(tenants *store.Store) func(ctx context.Context) ([]offboarding.Holder, error) {
	return func(ctx context.Context) ([]offboarding.Holder, error) {
		holders := p.holders(identity.HomeCell)
		others, err := tenants.OtherCells(ctx)
		for _, cell := range others {
			holders = append(holders, p.holders(cell.GetLetter())...)
		}
		return holders, err
	}
}

// addErasures makes what erases and exports data of persons, and adds the worker that continues pending erasures.
func addErasures(
	s *service.Service, peers peers, tenants *store.Store, ring *seal.Ring, backups time.Duration,
) (*privacy.Coordinator, error) {
	c := privacy.New(privacy.Deps{
		Store:  tenants,
		Orders: privacyv1.NewPersonalDataServiceClient(peers.to(identity.Orders)),
		Links:  privacyv1.NewPersonalDataServiceClient(peers.to(identity.PersonalLinks)),
		Events: []privacyv1.RecordEventsServiceClient{
			privacyv1.NewRecordEventsServiceClient(peers.to(identity.Events)),
			privacyv1.NewRecordEventsServiceClient(peers.to(identity.Webhook)),
		},
		Backups: backups, Ring: ring, Log: s.Telemetry.Logger, Now: time.Now,
	})
	worker, err := privacy.Worker(c, s.Telemetry)
	if err != nil {
		return nil, err
	}
	s.Add(worker)
	return c, nil
}

// to is the connection to a service. Without its address, every call is refused.
func (p peers) to(name identity.Name) grpc.ClientConnInterface {
	if conn, ok := p[name]; ok {
		return conn
	}
	return notConnected{}
}

type notConnected struct{}

func (notConnected) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return problem.Unavailable()
}

func (notConnected) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, problem.Unavailable()
}
