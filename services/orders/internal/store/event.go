package store

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// newEvent builds the row of the outbox for an event of the order. originKeyID is the key whose
// request it is; 0 when it is no key's.
func newEvent(tenantID string, order *ordersv1.Order, originKeyID int32, e rules.Event) (outbox.Event, error) {
	data, err := restjson.Marshal(e.Data)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return outbox.Event{
		ID:          uuid.Must(uuid.NewV7()).String(),
		Type:        e.Type,
		TenantID:    tenantID,
		BrandID:     order.GetBrandId(),
		SubjectID:   order.GetId(),
		OriginKeyID: originKeyID,
		OccurredAt:  e.OccurredAt,
		Data:        data,
	}, nil
}
