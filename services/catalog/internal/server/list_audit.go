package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// ListAudit lists what was done with a gift or a campaign, newest first.
func (o *productOperations) ListAudit(ctx context.Context, req *catalogv1.ListAuditRequest) (*catalogv1.ListAuditResponse, error) {
	errs := fields.FromContext(ctx)
	subject := errs.UUID("subjectId", req.GetSubjectId())
	bind := cursor.Bind("catalog/audit", subject)
	after := page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.store.Audit(ctx, subject, after, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, limit, bind, func(last store.AuditEntry) cursor.Position {
		return cursor.Position{Time: last.At, ID: last.ID}
	})
	resp := &catalogv1.ListAuditResponse{NextCursor: next}
	for _, e := range found {
		resp.Entries = append(resp.Entries, &catalogv1.AuditEntry{
			Id: e.ID, At: timestamppb.New(e.At), Action: e.Action, Detail: e.Detail,
			Actor: &commonv1.Actor{Kind: enum[commonv1.ActorKind](e.Actor.Kind), Id: e.Actor.ID},
		})
	}
	return resp, nil
}
