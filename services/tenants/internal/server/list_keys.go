package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// ListKeys lists the keys of a tenant, newest first, without secrets.
func (o *operations) ListKeys(ctx context.Context, req *tenantsv1.ListKeysRequest) (*tenantsv1.ListKeysResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_ListKeys_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	binding := page.Bind("tenants/keys", tenantID, strconv.FormatBool(req.GetRevokedToo()))
	limit, after := page.Limit(req.Limit, &errs), lastKey(req.After, binding, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	list := store.KeyList{TenantID: tenantID, Revoked: req.GetRevokedToo(), After: after, Limit: limit + 1}
	found, err := o.Store.Keys(ctx, by, rules.WholeURLs(), list)
	if err != nil {
		return nil, refused(err)
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
