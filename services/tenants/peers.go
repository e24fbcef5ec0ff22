package tenants

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/store"
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

// openOffboarding builds what erases tenants.
func (s *Service) openOffboarding(tenants *store.Store) error {
	worker, err := offboarding.New(offboarding.Deps{
		Store: tenants, Own: store.TenantData(s.pool), Holders: s.peers.holders(), Log: s.tel.Logger,
	}, s.tel)
	if err != nil {
		return err
	}
	s.offboard = worker.Part(s.clock, s.tel)
	return nil
}

// holders are the services that store data of tenants. Those that make changes come first, then those that read them.
func (p peers) holders() []offboarding.Holder {
	var holders []offboarding.Holder
	for _, name := range []identity.Name{identity.PersonalLinks, identity.Orders, identity.Catalog, identity.Events, identity.Webhook} {
		holders = append(holders, offboarding.Holder{Name: name, Data: privacyv1.NewTenantDataServiceClient(p.to(name))})
	}
	return holders
}

// openPrivacy builds what erases and exports persons.
func (s *Service) openPrivacy(tenants *store.Store, ring *seal.Ring, backups time.Duration) (c *privacy.Coordinator, err error) {
	c = privacy.New(privacy.Deps{
		Store:  tenants,
		Orders: privacyv1.NewPersonalDataServiceClient(s.peers.to(identity.Orders)),
		Links:  privacyv1.NewPersonalDataServiceClient(s.peers.to(identity.PersonalLinks)),
		Events: []privacyv1.RecordEventsServiceClient{
			privacyv1.NewRecordEventsServiceClient(s.peers.to(identity.Events)), privacyv1.NewRecordEventsServiceClient(s.peers.to(identity.Webhook)),
		},
		Backups: backups, Ring: ring, Log: s.tel.Logger, Now: time.Now,
	})
	s.erasures, err = privacy.Worker(c, s.tel)
	return c, err
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

// deleteOld deletes what is older than the retention of audits, and the secrets of webhooks that no longer sign.
func deleteOld(ctx context.Context, tenants *store.Store, audits, lag time.Duration) error {
	var failed []error
	for rows, keep := range map[store.Old]time.Duration{
		store.OldKeyAudit: audits + lag, store.OldTenantAudit: audits + lag, store.OldPersonRequests: audits + lag, store.OldSigning: lag,
	} {
		failed = append(failed, daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (int, error) {
			return tenants.Delete(ctx, rows, keep, limit)
		}))
	}
	return errors.Join(failed...)
}
