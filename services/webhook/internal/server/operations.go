package server

import (
	"errors"
	"log/slog"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Operations implements WebhookOperationsService.
type Operations struct {
	webhookv1.UnimplementedWebhookOperationsServiceServer
	store *store.Store
	// wake is called when deliveries have become due.
	wake func()
	log  *slog.Logger
}

// NewOperations makes the operations plane.
func NewOperations(s *store.Store, wake func(), log *slog.Logger) *Operations {
	return &Operations{store: s, wake: wake, log: log}
}

// endpointOf reads the names that every call of the plane begins with.
func endpointOf(tenantID string, keyID int32, errs *fields.Errors) store.Endpoint {
	if keyID <= 0 {
		errs.Add("keyId", problem.FieldRequired, "must be the id of a key")
	}
	return store.Endpoint{TenantID: errs.UUID("tenantId", tenantID), KeyID: keyID}
}

var states = map[webhookv1.DeliveryState]rules.State{
	webhookv1.DeliveryState_DELIVERY_STATE_PENDING:   rules.Pending,
	webhookv1.DeliveryState_DELIVERY_STATE_DELIVERED: rules.Delivered,
	webhookv1.DeliveryState_DELIVERY_STATE_FAILED:    rules.Failed,
	webhookv1.DeliveryState_DELIVERY_STATE_DROPPED:   rules.Dropped,
}

func delivery(l store.Logged) *webhookv1.Delivery {
	d := &webhookv1.Delivery{
		EventId: l.EventID, EventType: l.EventType, KeyId: l.KeyID, Attempts: int32(l.Attempts), //nolint:gosec // At most 8.
		CreatedAt: timestamppb.New(l.CreatedAt),
	}
	for public, state := range states {
		if state == l.State {
			d.State = public
		}
	}
	if l.NextAttemptAt != nil {
		d.NextAttemptAt = timestamppb.New(*l.NextAttemptAt)
	}
	if l.FinishedAt != nil {
		d.FinishedAt = timestamppb.New(*l.FinishedAt)
	}
	return d
}

// refused turns what the store refuses into the problem it stands for.
func refused(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return problem.RecordNotFound()
	}
	return err
}
