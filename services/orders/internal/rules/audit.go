package rules

import (
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Audit is one accepted operation, as the audit keeps it.
type Audit struct {
	TenantID string
	// OrderID is empty for a search.
	OrderID   string
	Actor     *commonv1.Actor
	Operation ordersv1.Operation
}
