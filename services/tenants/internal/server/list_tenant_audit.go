package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ListTenantAudit lists all changes of a tenant, newest first.
func (o *operations) ListTenantAudit(
	ctx context.Context, req *tenantsv1.ListTenantAuditRequest,
) (*tenantsv1.ListTenantAuditResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_ListTenantAudit_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	binding := page.Bind("tenants/audit", tenantID)
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.Store.TenantAudit(ctx, tenantID, by, after, limit+1)
	if err != nil {
		return nil, refused(err)
	}
	entries, next := page.Cut(found, limit, binding, func(last *tenantsv1.TenantAuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &tenantsv1.ListTenantAuditResponse{Entries: entries, NextCursor: next}, nil
}
