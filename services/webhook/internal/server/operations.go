package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Operations implements WebhookOperationsService.
type Operations struct {
	webhookv1.UnimplementedWebhookOperationsServiceServer
	store   *store.Store
	reader  *seal.EventReader
	tenants *tenants.Cache
	// wake is called when deliveries have become due.
	wake func()
	log  *slog.Logger
}

// NewOperations makes the server of the operations plane. The reader opens the bodies that it shows, and tenants has the
// teams.
func NewOperations(
	s *store.Store, reader *seal.EventReader, tenants *tenants.Cache, wake func(), log *slog.Logger,
) *Operations {
	return &Operations{store: s, reader: reader, tenants: tenants, wake: wake, log: log}
}

// permit checks the actor, reports its errors together with errs, and refuses an actor who may not make the call.
func (o *Operations) permit(ctx context.Context, by *commonv1.Actor, tenantID string, errs *fields.Errors) error {
	caller.CheckActor(by, errs)
	if err := errs.Err(); err != nil {
		return err
	}
	method, _ := grpc.Method(ctx) // Without one, all are refused.
	return o.tenants.Permit(ctx, tenantID, by, rules.Access(method))
}

// endpointOf reads the ids that most requests have.
func endpointOf(tenantID string, keyID int32, errs *fields.Errors) store.Endpoint {
	if keyID <= 0 {
		errs.Add("keyId", problem.FieldRequired, "must be the id of a key")
	}
	return store.Endpoint{TenantID: errs.UUID("tenantId", tenantID), KeyID: keyID}
}

func delivery(l store.Logged) *webhookv1.Delivery {
	state, _ := enumname.Parse[webhookv1.DeliveryState](string(l.State))
	return &webhookv1.Delivery{
		EventId: l.EventID, EventType: l.EventType, KeyId: l.KeyID, State: state,
		Attempts:  int32(l.Attempts), //nolint:gosec // At most 8.
		CreatedAt: timestamppb.New(l.CreatedAt), NextAttemptAt: timestamp(l.NextAttemptAt), FinishedAt: timestamp(l.FinishedAt),
	}
}

func timestamp(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

// translate turns an error of the store into its problem.
func translate(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return problem.RecordNotFound()
	}
	return err
}

// GetBacklog returns the number and age of waiting deliveries for each key of a tenant.
func (o *Operations) GetBacklog(ctx context.Context, req *webhookv1.GetBacklogRequest) (*webhookv1.GetBacklogResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := o.permit(ctx, req.GetActor(), tenantID, &errs); err != nil {
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
