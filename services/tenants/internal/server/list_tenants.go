package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// ListTenants lists all tenants, newest first. No member of a team may, so the permission needs no membership.
func (o *operations) ListTenants(ctx context.Context, req *tenantsv1.ListTenantsRequest) (*tenantsv1.ListTenantsResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	binding := page.Bind("tenants/tenants")
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := rules.Access(tenantsv1.TenantOperationsService_ListTenants_FullMethodName).Check(req.GetActor(), nil); err != nil {
		return nil, err
	}
	found, err := o.Store.Tenants(ctx, after, limit+1)
	if err != nil {
		return nil, err
	}
	tenants, next := page.Cut(found, limit, binding, func(last *tenantsv1.TenantRecord) page.Position {
		return page.Position{Time: last.GetCreatedAt().AsTime(), ID: last.GetTenant().GetId()}
	})
	return &tenantsv1.ListTenantsResponse{Tenants: tenants, NextCursor: next}, nil
}
