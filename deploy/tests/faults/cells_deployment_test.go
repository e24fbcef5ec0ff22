//go:build faults

package faults_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// inCell is the name of a database of a cell, without that of the deployment.
func inCell(letter, database string) string {
	if letter == identity.HomeCell {
		return database
	}
	return letter + "_" + database
}

// putCell gives the gateways the addresses of both instances of each program in a cell. The stack has put those of the first ones.
func (d *deployment) putCell(t *testing.T, letter string) {
	t.Helper()
	addr := func(name identity.Name) string {
		return d.peers[letter][settings.Prefix+programs.Named(name).PeerSetting()]
	}
	_, err := d.cells.PutCell(t.Context(), &tenantsv1.PutCellRequest{
		Actor: staff, Open: true,
		Cell: &tenantsv1.Cell{
			Letter: letter, CatalogAddr: addr(identity.Catalog), OrdersAddr: addr(identity.Orders),
			PersonalLinksAddr: addr(identity.PersonalLinks), EventsAddr: addr(identity.Events), WebhookAddr: addr(identity.Webhook),
		},
	})
	require.NoError(t, err)
}

// findCell returns the letter of the cell that a tenant is in.
func (d *deployment) findCell(ctx context.Context, tenant string) (string, error) {
	if len(d.config.Cells) == 0 {
		return identity.HomeCell, nil
	}
	found, err := d.keys.GetTenant(ctx, &tenantsv1.GetTenantRequest{Actor: staff, TenantId: tenant})
	return found.GetTenant().GetCell(), err
}

func (d *deployment) cellOf(t *testing.T, tenant string) string {
	t.Helper()
	letter, err := d.findCell(t.Context(), tenant)
	require.NoError(t, err)
	return letter
}

// tenantConn calls a service in the cell that a tenant is in at the time of the call.
type tenantConn struct {
	grpc.ClientConnInterface // of the first cell

	deployment *deployment
	tenant     string
	conns      map[string]*local.Conn
}

// dialTenant connects to the first or second instance of a service in the cell of a tenant, for even or odd n.
func (d *deployment) dialTenant(t *testing.T, tenant string, service identity.Name, n int) grpc.ClientConnInterface {
	t.Helper()
	home := d.dial(t, service, n)
	c := &tenantConn{ClientConnInterface: home, deployment: d, tenant: tenant, conns: map[string]*local.Conn{identity.HomeCell: home}}
	for _, letter := range d.config.Cells {
		c.conns[letter] = d.dialCell(t, letter, service, n)
	}
	return c
}

// Invoke implements grpc.ClientConnInterface. If the tenant has moved since the call began, its error says nothing about the
// tenant, and the call must be repeated.
func (c *tenantConn) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	before, err := c.deployment.findCell(ctx, c.tenant)
	if err != nil {
		return err
	}
	failed := c.conns[before].Invoke(ctx, method, req, resp, opts...)
	if failed == nil {
		return nil
	}
	if after, err := c.deployment.findCell(ctx, c.tenant); err != nil || after != before {
		return status.Error(codes.Unavailable, "the tenant has moved")
	}
	return failed
}

// refusedByMove describes a request that a move of its tenant must not make fail: a read that is refused, or a request without an
// answer.
func refusedByMove(what call, a answer, err error) string {
	switch {
	case err != nil:
		return what.method + " " + what.path + " has no answer: " + err.Error()
	case what.method == http.MethodGet && a.status >= http.StatusInternalServerError:
		return what.method + " " + what.path + " is refused: " + a.body
	default:
		return ""
	}
}

// addWait notes how long a change was repeated until it was answered.
func (r *results) addWait(what call, took time.Duration) {
	if what.method == http.MethodGet {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.longestWait = max(r.longestWait, took)
}
