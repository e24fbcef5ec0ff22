package server

import (
	"context"
	"strconv"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ListPersonalLinks lists the links within the key's brands (API specification, GET /personal-links).
func (s *Server) ListPersonalLinks(
	ctx context.Context, req *linksv1.ListPersonalLinksRequest,
) (*linksv1.ListPersonalLinksResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	req.CampaignId = errs.OptionalUUID("campaignId", req.CampaignId)
	req.UpdatedSince = page.Since(req.GetUpdatedSince(), errs)
	if _, known := enumname.Of(req.GetStatus().Descriptor()).Name(req.GetStatus().Number()); req.Status != nil && !known {
		errs.Add("status", problem.FieldInvalid, "must be a status of a personal link")
	}
	limit, binding := page.Limit(req.Limit, errs), page.BindRequest("personal-links", p.TenantID, req)
	after := page.After(req.After, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	// One more link shows that another page follows.
	links, err := s.Store.List(ctx, store.List{Key: p, Filters: req, After: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	items, next := page.Cut(links, limit, binding, func(last *linksv1.PersonalLink) page.Position {
		at := last.GetCreatedAt()
		if req.GetUpdatedSince() != nil {
			at = last.GetUpdatedAt()
		}
		return page.Position{Time: at.AsTime(), ID: last.GetId()}
	})
	return &linksv1.ListPersonalLinksResponse{Items: items, NextCursor: next}, nil
}

// ListPersonalLinkBatch lists a batch in the order of its recipients.
func (s *Server) ListPersonalLinkBatch(
	ctx context.Context, req *linksv1.ListPersonalLinkBatchRequest,
) (*linksv1.ListPersonalLinkBatchResponse, error) {
	errs := caller.RequestErrors(ctx)
	limit := page.Limit(req.Limit, errs)
	batchID := idOrUnknown(req.GetBatchId())
	binding := page.Bind("personal-link-batch", req.GetTenantId(), batchID)
	after := indexAfter(req.After, binding, errs)
	tenantID, err := s.permit(ctx, linksv1.PersonalLinkOperationsService_ListPersonalLinkBatch_FullMethodName, req, errs)
	if err != nil {
		return nil, err
	}
	links, more, err := s.Store.Batch(ctx, tenantID, batchID, after, limit)
	if err != nil {
		return nil, notFound(err)
	}
	resp := &linksv1.ListPersonalLinkBatchResponse{}
	for _, l := range links {
		resp.Items = append(resp.Items, detailsOf(l))
	}
	if more {
		next := binding.Encode(strconv.AppendInt(nil, int64(links[len(links)-1].BatchIndex), 10))
		resp.NextCursor = &next
	}
	return resp, nil
}

// indexAfter reads a cursor, which holds the index of the last link of the previous page.
func indexAfter(after *string, binding page.Binding, errs *fields.Errors) int {
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
