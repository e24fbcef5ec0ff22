package gatewaytest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Directory is a fake of the directory of keys, and of the cells besides the first one.
type Directory struct {
	*tenantstest.Directory

	// Lists counts calls of ListCells.
	Lists atomic.Int32

	mu    sync.Mutex
	cells []*tenantsv1.Cell
}

// ListCells implements DirectoryService.
func (d *Directory) ListCells(context.Context, *tenantsv1.ListCellsRequest) (*tenantsv1.ListCellsResponse, error) {
	d.Lists.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	return &tenantsv1.ListCellsResponse{Cells: d.cells}, nil
}

// place is where a tenant is.
type place struct {
	cell   string
	moving bool
}

// AddCell starts the services of another cell, which have the same tenant.
func (s *Services) AddCell(t *testing.T, letter string) *Services {
	t.Helper()
	other := NewServices(t)
	other.TenantID, other.Feed.tenantID = s.TenantID, s.TenantID
	s.Directory.mu.Lock()
	defer s.Directory.mu.Unlock()
	s.Directory.cells = append(s.Directory.cells, &tenantsv1.Cell{
		Letter: letter, CatalogAddr: other.addr, OrdersAddr: other.addr, PersonalLinksAddr: other.addr, EventsAddr: other.addr,
		WebhookAddr: other.addr,
	})
	return other
}

// Move says in which cell the tenant is from now on, and whether it is about to leave it.
func (s *Services) Move(t *testing.T, cell string, moving bool) {
	t.Helper()
	s.place.Store(&place{cell, moving})
	s.publish(t)
}
