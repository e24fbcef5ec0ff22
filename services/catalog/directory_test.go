package catalog_test

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// directory answers the settings of two tenants as the tenants service would.
type directory struct {
	tenantsv1.UnimplementedDirectoryServiceServer

	mu    sync.Mutex
	calls int
	now   *tenantsv1.GetTenantSettingsResponse
}

func newDirectory() *directory {
	d := &directory{}
	d.set(1, "SEK", "en-US", "sv-SE")
	return d
}

func (d *directory) set(version int64, currency string, locales ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = &tenantsv1.GetTenantSettingsResponse{
		Version: version,
		Tenant:  &tenantsv1.Tenant{Id: tenantID, Currency: currency, Locales: locales},
		Brands:  []*tenantsv1.Brand{{Id: brandID}},
	}
}

func (d *directory) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

func (d *directory) GetTenantSettings(
	_ context.Context, req *tenantsv1.GetTenantSettingsRequest,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	switch req.GetTenantId() {
	case tenantID:
		return d.now, nil
	case otherTenantID:
		other := proto.CloneOf(d.now)
		other.Tenant.Id, other.Brands = otherTenantID, nil
		return other, nil
	default:
		return nil, problem.RecordNotFound()
	}
}
