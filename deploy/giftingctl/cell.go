package giftingctl

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/identity"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var errCell = errors.New("the tenant is in a cell that the context does not have")

// tenantOf returns the tenant of the request, or that of --tenant if the request has none.
func (c *callCommand) tenantOf(req proto.Message) string {
	fd := req.ProtoReflect().Descriptor().Fields().ByName(tenantField)
	if fd == nil {
		return c.app.tenant
	}
	return req.ProtoReflect().Get(fd).String()
}

// isInCell reports whether the call goes to the cell of the tenant.
func (c *callCommand) isInCell(target chosenContext, tenantID string) bool {
	return len(target.Cells) > 0 && tenantID != "" && serviceOf(c.method).InCells()
}

// inCell returns the context with the addresses of the cell that has the records of the tenant.
func (c *callCommand) inCell(ctx context.Context, target chosenContext, tenantID string) (chosenContext, error) {
	if !c.isInCell(target, tenantID) {
		return target, nil
	}
	actor, err := target.actor()
	if err != nil {
		return target, err
	}
	conn, err := c.app.dial(target, identity.Tenants)
	if err != nil {
		return target, err
	}
	defer conn.close()
	found := &tenantsv1.GetTenantResponse{}
	err = conn.call(ctx, tenantsv1.TenantOperationsService_GetTenant_FullMethodName,
		&tenantsv1.GetTenantRequest{Actor: actor, TenantId: tenantID}, found)
	if err != nil {
		return target, err
	}
	cell := found.GetTenant().GetCell()
	if cell == "" || cell == identity.HomeCell {
		return target, nil
	}
	addresses, known := target.Cells[cell]
	if !known {
		return target, terminal.AsUsageError(fmt.Errorf("%w: set cells.%s of %s in %s", errCell, cell, target.name, target.config.path))
	}
	target.Addresses, target.cell = addresses, cell
	return target, nil
}
