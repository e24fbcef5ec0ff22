package server

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

type resendEffect = idempotency.Effect[*webhookv1.ResendWebhookDeliveryResponse]

// ResendWebhookDelivery makes a delivery of the calling key due, once per Idempotency-Key: a finished one again, a pending one
// now.
func (s *Server) ResendWebhookDelivery(
	ctx context.Context, req *webhookv1.ResendWebhookDeliveryRequest,
) (*webhookv1.ResendWebhookDeliveryResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	if resp, found, err := idempotency.Replay[*webhookv1.ResendWebhookDeliveryResponse](ctx, s.deps.Pool); found || err != nil {
		return resp, err
	}
	if err := caller.RequestErrors(ctx).Err(); err != nil {
		return nil, err
	}
	text, ok := fields.ParseUUID(req.GetDeliveryId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	endpoint := store.Endpoint{TenantID: p.TenantID, KeyID: p.KeyID}
	resend := s.deps.Store.NewResend(endpoint, visibilityOf(p), rules.EventOfDelivery(p.KeyID, uuid.MustParse(text)))
	resp, err := idempotency.RunInTx(ctx, s.deps.Pool, resend.QueueRead, func() (effect resendEffect, err error) {
		if resend.Found == nil {
			return effect, problem.RecordNotFound()
		}
		effect.Record = idempotency.Record{BrandID: resend.BrandID, Scope: rules.ScopeOf(resend.Found.EventType)}
		shown := ownDelivery(p.KeyID, *resend.Found)
		effect.Answer = &webhookv1.ResendWebhookDeliveryResponse{Delivery: shown}
		if resend.Needed {
			shown.State, shown.NextAttemptAt = publicState(rules.Pending), timestamppb.New(resend.Now)
			effect.Queue = resend.QueueUpdate
		}
		return effect, nil
	})
	if err != nil {
		return nil, err
	}
	s.deps.Wake()
	return resp, nil
}
