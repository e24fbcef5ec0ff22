package tenants

import (
	"github.com/partnergifting/platform/pkg/identity"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

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
