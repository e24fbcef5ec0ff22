package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ListPersonalLinkBatch gives one page of a batch in the order of its recipients.
func (o *Operations) ListPersonalLinkBatch(
	ctx context.Context, req *linksv1.ListPersonalLinkBatchRequest,
) (*linksv1.ListPersonalLinkBatchResponse, error) {
	errs := fields.FromContext(ctx)
	limit := page.Limit(req.Limit, errs)
	batchID := idOrUnknown(req.GetBatchId())
	binding := cursor.Bind("personal-link-batch", req.GetTenantId(), batchID)
	after := placeAfter(req.After, binding, errs)
	tenantID, err := o.permit(ctx, errs, req.GetActor(), req.GetTenantId(), rules.PermitTeam)
	if err != nil {
		return nil, err
	}
	links, more, err := o.Store.Batch(ctx, tenantID, batchID, after, limit)
	if err != nil {
		return nil, absent(err)
	}
	resp := &linksv1.ListPersonalLinkBatchResponse{}
	for _, l := range links {
		resp.Items = append(resp.Items, detailsOf(l))
	}
	if more {
		next := binding.Encode(strconv.AppendInt(nil, int64(*links[len(links)-1].BatchIndex), 10))
		resp.NextCursor = &next
	}
	return resp, nil
}

// placeAfter reads a cursor, which holds the place of the last link of the page before.
func placeAfter(after *string, binding cursor.Binding, errs *fields.Errors) int {
	if after == nil {
		return -1
	}
	position, err := binding.Decode(*after)
	place, wrong := strconv.ParseInt(string(position), 10, 32)
	if err != nil || wrong != nil {
		errs.Add("after", problem.FieldInvalid, "is no cursor of this list")
	}
	return int(place)
}
