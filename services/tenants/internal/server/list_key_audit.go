package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ListKeyAudit lists the changes of a tenant's keys, newest first.
func (o *operations) ListKeyAudit(ctx context.Context, req *tenantsv1.ListKeyAuditRequest) (*tenantsv1.ListKeyAuditResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_ListKeyAudit_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	ofKey := ""
	if req.KeyId != nil {
		ofKey = strconv.Itoa(int(req.GetKeyId()))
	}
	binding := page.Bind("tenants/key-audit", tenantID, ofKey)
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.Store.KeyAudit(ctx, tenantID, by, req.KeyId, after, limit+1)
	if err != nil {
		return nil, refused(err)
	}
	entries, next := page.Cut(found, limit, binding, func(last *tenantsv1.KeyAuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &tenantsv1.ListKeyAuditResponse{Entries: entries, NextCursor: next}, nil
}
