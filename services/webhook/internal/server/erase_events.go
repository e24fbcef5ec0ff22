package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/seal"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// EraseEvents erases what the events of orders and links say about a person, in the deliveries and in the stored answers. sending
// is how many of the deliveries are in flight, not erased: call it again until it is zero.
func (s *Server) EraseEvents(ctx context.Context, tenantID string, subjectIDs []string) (sending int, err error) {
	erased, err := s.deps.Store.EraseEvents(ctx, tenantID, subjectIDs)
	if err != nil || erased.Sending > 0 {
		return erased.Sending, err
	}
	// An answer that is stored from now on has the erased responses.
	_, err = idempotency.RewriteOf(ctx, s.deps.Pool, erased.KeyIDs, func(_ int32, answer proto.Message) (changed bool, err error) {
		resend, ok := answer.(*webhookv1.ResendWebhookDeliveryResponse)
		if !ok || !slices.Contains(erased.EventIDs, resend.GetDelivery().GetEventId()) {
			return false, nil
		}
		for _, a := range resend.GetDelivery().GetAttempts() {
			if a.GetResponseBody() != "" && a.GetResponseBody() != seal.Erased {
				a.ResponseBody, changed = new(seal.Erased), true
			}
		}
		return changed, nil
	})
	return 0, err
}
