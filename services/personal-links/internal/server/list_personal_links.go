package server

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

const maxReference = 128

// ListPersonalLinks gives one page of the links within the key's brands.
func (p *Public) ListPersonalLinks(
	ctx context.Context, req *linksv1.ListPersonalLinksRequest,
) (*linksv1.ListPersonalLinksResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	query := filters(errs, req)
	query.TenantID, query.AllBrands, query.BrandIDs = principal.TenantID, principal.AllBrands, principal.BrandIDs
	query.Limit = page.Limit(req.Limit, errs)
	binding := bind(query)
	query.After = page.After(req.After, binding, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	links, more, err := p.Store.List(ctx, query)
	if err != nil {
		return nil, err
	}
	resp := &linksv1.ListPersonalLinksResponse{Items: links}
	if more {
		next := binding.EncodePosition(positionOf(links[len(links)-1], query.UpdatedSince != nil))
		resp.NextCursor = &next
	}
	return resp, nil
}

func filters(errs *fields.Errors, req *linksv1.ListPersonalLinksRequest) (q store.Query) {
	if req.ExternalRecipientId != nil {
		errs.MaxLen("externalRecipientId", req.GetExternalRecipientId(), maxReference)
		q.ExternalRecipientID = req.ExternalRecipientId
	}
	if req.CampaignId != nil {
		id := errs.UUID("campaignId", req.GetCampaignId())
		q.CampaignID = &id
	}
	if req.Status != nil {
		q.Status = req.GetStatus()
		if _, known := linksv1.PersonalLinkStatus_name[int32(q.Status)]; !known || q.Status == 0 {
			errs.Add("status", problem.FieldInvalid, "must be a status of a personal link")
		}
	}
	if req.GetUpdatedSince() != nil {
		q.UpdatedSince = since(errs, req.GetUpdatedSince())
	}
	return q
}

// since rounds up to whole microseconds, in which links are stored: a link that changed before the
// instant is not listed.
func since(errs *fields.Errors, ts *timestamppb.Timestamp) *time.Time {
	if !ts.IsValid() {
		errs.Add("updatedSince", problem.FieldInvalid, "must be an instant")
		return nil
	}
	t := ts.AsTime().Add(time.Microsecond - time.Nanosecond).Truncate(time.Microsecond)
	return &t
}

// bind ties cursors to the tenant, the filters and, through updatedSince, the order. A key's brands
// are no part of it: they are applied to every page anew.
func bind(q store.Query) cursor.Binding {
	since := ""
	if q.UpdatedSince != nil {
		since = q.UpdatedSince.Format(time.RFC3339Nano)
	}
	return cursor.Bind("personal-links", q.TenantID, page.Part(q.ExternalRecipientID), page.Part(q.CampaignID),
		strconv.Itoa(int(q.Status)), since)
}

func positionOf(l *linksv1.PersonalLink, byChange bool) cursor.Position {
	at := l.GetCreatedAt()
	if byChange {
		at = l.GetUpdatedAt()
	}
	return cursor.Position{Time: at.AsTime(), ID: l.GetId()}
}
