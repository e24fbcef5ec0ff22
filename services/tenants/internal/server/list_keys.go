package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// ListKeys lists the keys of a tenant, newest first, without secrets.
func (o *operations) ListKeys(ctx context.Context, req *tenantsv1.ListKeysRequest) (*tenantsv1.ListKeysResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_ListKeys_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	binding := cursor.Bind("tenants/keys", tenantID, strconv.FormatBool(req.GetRevokedToo()))
	limit, after := page.Limit(req.Limit, &errs), page.After(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	list := store.KeyList{TenantID: tenantID, Revoked: req.GetRevokedToo(), After: after, Limit: limit + 1}
	found, err := o.Store.Keys(ctx, by, rules.WholeURLs(), list)
	if err != nil {
		return nil, refused(err)
	}
	keys, next := page.Cut(found, limit, binding, func(last *tenantsv1.KeyRecord) cursor.Position {
		return cursor.Position{Time: last.GetCreatedAt().AsTime(), ID: strconv.Itoa(int(last.GetKey().GetId()))}
	})
	return &tenantsv1.ListKeysResponse{Keys: keys, NextCursor: next}, nil
}
