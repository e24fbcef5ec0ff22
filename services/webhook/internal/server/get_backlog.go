package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// GetBacklog returns what waits for the keys of a tenant.
func (o *Operations) GetBacklog(ctx context.Context, req *webhookv1.GetBacklogRequest) (*webhookv1.GetBacklogResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	list, err := o.store.Backlog(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.GetBacklogResponse{}
	for _, b := range list {
		resp.Keys = append(resp.Keys, &webhookv1.KeyBacklog{
			KeyId: b.KeyID, Pending: b.Pending, OldestCreatedAt: timestamppb.New(b.OldestCreatedAt),
			NextAttemptAt: timestamppb.New(b.NextAttemptAt), PausedUntil: timestamp(b.PausedUntil),
		})
	}
	return resp, nil
}
