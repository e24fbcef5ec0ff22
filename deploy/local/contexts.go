package local

import (
	"path/filepath"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

// ContextsFile has the contexts of giftingctl for a stack in the folder.
func ContextsFile(dir string) string { return filepath.Join(dir, "giftingctl.yaml") }

// contexts has a context for each system in which people work. The current one is the back office, which may call the most.
func (w wiring) contexts() giftingctl.Config {
	addresses := map[identity.Name]string{}
	for _, p := range programs.All() {
		addresses[p.Name] = w.addr(p.GRPCPort)
	}
	of := func(caller identity.Name, tenant string, actor giftingctl.Actor) giftingctl.Context {
		return giftingctl.Context{
			Addresses: addresses, CA: w.certificates.Cert(bootstrap.AuthorityName), Certificate: w.certificates.Cert(caller),
			Key: w.certificates.Key(caller), Actor: actor, Tenant: tenant,
		}
	}
	return giftingctl.Config{Current: string(identity.Backoffice), Contexts: map[string]giftingctl.Context{
		string(identity.Backoffice): of(identity.Backoffice, seed.Direct, giftingctl.Actor{Kind: "backoffice-account", ID: "staff-7"}),
		string(identity.Operator):   of(identity.Operator, seed.Direct, giftingctl.Actor{Kind: "system"}),
		string(identity.Workspace): of(identity.Workspace, seed.Approving,
			giftingctl.Actor{Kind: "tenant-account", ID: seed.Approver}),
	}}
}
