package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// GetTenant returns a tenant with its brands, team and custom fields.
func (o *operations) GetTenant(ctx context.Context, req *tenantsv1.GetTenantRequest) (*tenantsv1.GetTenantResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.Store.Tenant(ctx, tenantID, by)
	if err != nil {
		return nil, asProblem(err)
	}
	return found, nil
}

// ListTenants lists all tenants, newest first. No member of a team may, so the permission needs no membership.
func (o *operations) ListTenants(ctx context.Context, req *tenantsv1.ListTenantsRequest) (*tenantsv1.ListTenantsResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	binding := page.Bind("tenants/tenants")
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := permission(ctx).Check(req.GetActor(), nil); err != nil {
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

// ListKeys lists the keys of a tenant, newest first, without secrets.
func (o *operations) ListKeys(ctx context.Context, req *tenantsv1.ListKeysRequest) (*tenantsv1.ListKeysResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	binding := page.Bind("tenants/keys", tenantID, strconv.FormatBool(req.GetRevokedToo()))
	limit, after := page.Limit(req.Limit, &errs), lastKey(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	list := store.KeyList{TenantID: tenantID, Revoked: req.GetRevokedToo(), After: after, Limit: limit + 1}
	found, err := o.Store.Keys(ctx, by, rules.WholeURLs(), list)
	if err != nil {
		return nil, asProblem(err)
	}
	resp := &tenantsv1.ListKeysResponse{Keys: found}
	if len(found) > limit {
		resp.Keys = found[:limit]
		resp.NextCursor = new(binding.Encode(strconv.AppendInt(nil, int64(found[limit-1].GetKey().GetId()), 10)))
	}
	return resp, nil
}

// lastKey is the id of a cursor, or nil without one. Ids of keys are numbers, unlike those of other lists.
func lastKey(after *string, binding page.Binding, errs *fields.Errors) *int32 {
	if after == nil {
		return nil
	}
	text, err := binding.Decode(*after)
	if errors.Is(err, page.ErrForeignCursor) && errs.Err() != nil {
		return nil // The filters are invalid.
	}
	id, malformed := strconv.ParseInt(string(text), 10, 32)
	if err != nil || malformed != nil {
		errs.Add("after", problem.FieldInvalid, "is not a cursor of this list and these filters")
		return nil
	}
	return new(int32(id))
}

// ListKeyAudit lists the changes of a tenant's keys, newest first.
func (o *operations) ListKeyAudit(
	ctx context.Context, req *tenantsv1.ListKeyAuditRequest,
) (*tenantsv1.ListKeyAuditResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
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
		return nil, asProblem(err)
	}
	entries, next := page.Cut(found, limit, binding, func(last *tenantsv1.KeyAuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &tenantsv1.ListKeyAuditResponse{Entries: entries, NextCursor: next}, nil
}

// ListTenantAudit lists all changes of a tenant, newest first.
func (o *operations) ListTenantAudit(
	ctx context.Context, req *tenantsv1.ListTenantAuditRequest,
) (*tenantsv1.ListTenantAuditResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	binding := page.Bind("tenants/audit", tenantID)
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.Store.TenantAudit(ctx, tenantID, by, after, limit+1)
	if err != nil {
		return nil, asProblem(err)
	}
	entries, next := page.Cut(found, limit, binding, func(last *tenantsv1.TenantAuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &tenantsv1.ListTenantAuditResponse{Entries: entries, NextCursor: next}, nil
}
