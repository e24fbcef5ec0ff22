package server

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// persons erases and exports what is stored about persons.
type persons struct {
	tenantsv1.UnimplementedPrivacyOperationsServiceServer

	store   *store.Store
	privacy *privacy.Coordinator
}

// personRequest has the fields that erasing and exporting share.
type personRequest interface {
	operation
	GetExternalRecipientId() string
	GetOrderId() string
	GetPersonalLinkId() string
}

const maxRecipientID = 128

// admit checks the request and refuses an actor who may not make it. The store checks that again when it records the request.
func (p *persons) admit(
	ctx context.Context, req personRequest, errs *fields.Errors,
) (s privacy.Subject, by store.Authorization, err error) {
	s.TenantID, by = admit(ctx, req, errs)
	switch {
	case req.GetExternalRecipientId() != "":
		errs.Required("externalRecipientId", req.GetExternalRecipientId(), maxRecipientID)
		s.Kind, s.ID = privacy.ExternalRecipient, req.GetExternalRecipientId()
	case req.GetOrderId() != "":
		s.Kind, s.ID = privacy.Order, errs.UUID("orderId", req.GetOrderId())
	case req.GetPersonalLinkId() != "":
		s.Kind, s.ID = privacy.PersonalLink, errs.UUID("personalLinkId", req.GetPersonalLinkId())
	default:
		errs.Add("subject", problem.FieldRequired, "is required")
	}
	if err := errs.Err(); err != nil {
		return s, by, err
	}
	return s, by, asProblem(p.store.Permit(ctx, s.TenantID, by))
}

// ErasePerson erases what is stored about a person.
func (p *persons) ErasePerson(ctx context.Context, req *tenantsv1.ErasePersonRequest) (*tenantsv1.ErasePersonResponse, error) {
	errs := caller.RequestErrors(ctx)
	requestID := errs.RequiredUUID("requestId", req.GetRequestId())
	subject, by, err := p.admit(ctx, req, errs)
	if err != nil {
		return nil, err
	}
	r, err := p.privacy.Erase(ctx, subject, requestID, by)
	if err != nil {
		return nil, asProblem(err)
	}
	completed := r.CompletedAt != nil
	erasure := &tenantsv1.Erasure{
		RequestId: r.ID, State: erasureState(completed), RequestedAt: timestamppb.New(r.RequestedAt),
		Parts: []*tenantsv1.ErasurePart{
			{Service: string(identity.PersonalLinks), State: erasureState(r.LinksErasedAt != nil), RecordIds: r.LinkIDs},
			{Service: string(identity.Orders), State: erasureState(r.OrdersErasedAt != nil), RecordIds: r.OrderIDs},
			{Service: string(identity.Events), State: erasureState(completed)},
			{Service: string(identity.Webhook), State: erasureState(completed)},
		},
	}
	for _, place := range slices.Sorted(maps.Keys(r.Remainders)) {
		erasure.Remainders = append(erasure.Remainders, &tenantsv1.ErasureRemainder{
			Place: place, GoneAfter: timestamppb.New(r.Remainders[place]),
		})
	}
	if completed {
		erasure.CompletedAt = timestamppb.New(*r.CompletedAt)
	}
	return &tenantsv1.ErasePersonResponse{Erasure: erasure}, nil
}

func erasureState(completed bool) tenantsv1.ErasureState {
	if completed {
		return tenantsv1.ErasureState_ERASURE_STATE_COMPLETED
	}
	return tenantsv1.ErasureState_ERASURE_STATE_PENDING
}

// ExportPerson returns what is stored about a person.
func (p *persons) ExportPerson(ctx context.Context, req *tenantsv1.ExportPersonRequest) (*tenantsv1.ExportPersonResponse, error) {
	subject, by, err := p.admit(ctx, req, caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	exported, err := p.privacy.Export(ctx, subject, by)
	if err != nil {
		return nil, asProblem(err)
	}
	return &tenantsv1.ExportPersonResponse{Document: exported}, nil
}
