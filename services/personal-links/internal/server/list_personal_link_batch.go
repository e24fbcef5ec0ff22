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

// ListPersonalLinkBatch lists a batch in the order of its recipients.
func (s *Server) ListPersonalLinkBatch(
	ctx context.Context, req *linksv1.ListPersonalLinkBatchRequest,
) (*linksv1.ListPersonalLinkBatchResponse, error) {
	errs := fields.FromContext(ctx)
	limit := page.Limit(req.Limit, errs)
	batchID := idOrUnknown(req.GetBatchId())
	binding := cursor.Bind("personal-link-batch", req.GetTenantId(), batchID)
	after := indexAfter(req.After, binding, errs)
	tenantID, err := s.permit(ctx, req, rules.PermitTeam, errs)
	if err != nil {
		return nil, err
	}
	links, more, err := s.store.Batch(ctx, tenantID, batchID, after, limit)
	if err != nil {
		return nil, notFound(err)
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

// indexAfter reads a cursor, which holds the index of the last link of the page before.
func indexAfter(after *string, binding cursor.Binding, errs *fields.Errors) int {
	if after == nil {
		return -1
	}
	position, err := binding.Decode(*after)
	index, invalid := strconv.ParseInt(string(position), 10, 32)
	if err != nil || invalid != nil {
		errs.Add("after", problem.FieldInvalid, "is not a cursor of this list")
	}
	return int(index)
}
