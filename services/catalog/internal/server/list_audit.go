package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// newest is a position before the newest entry of a list that begins with it.
func newest() cursor.Position {
	return cursor.Position{Time: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), ID: unknownID}
}

// ListAudit answers what was done with a gift or a campaign, newest first.
func (o *ProductOperations) ListAudit(ctx context.Context, req *catalogv1.ListAuditRequest) (*catalogv1.ListAuditResponse, error) {
	errs := fields.FromContext(ctx)
	subject := errs.UUID("subjectId", req.GetSubjectId())
	bind := cursor.Bind("catalog/audit", subject)
	from := newest()
	if after := page.After(req.After, bind, errs); after != nil {
		from = *after
	}
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.store.Audit(ctx, subject, from, limit+1)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListAuditResponse{}
	if len(found) > limit {
		found = found[:limit]
		next := bind.EncodePosition(cursor.Position{Time: found[limit-1].At, ID: found[limit-1].ID})
		resp.NextCursor = &next
	}
	for _, e := range found {
		resp.Entries = append(resp.Entries, auditEntry(e))
	}
	return resp, nil
}

func auditEntry(e store.AuditEntry) *catalogv1.AuditEntry {
	kind := commonv1.ActorKind(commonv1.ActorKind_value["ACTOR_KIND_"+e.Actor.Kind])
	return &catalogv1.AuditEntry{
		Id: e.ID, At: timestamppb.New(e.At), Actor: &commonv1.Actor{Kind: kind, Id: e.Actor.ID}, Action: e.Action, Detail: e.Detail,
	}
}
