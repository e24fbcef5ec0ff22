package privacy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/problem"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// maxDocument has room in a gRPC message.
const maxDocument = 16 << 20

type document struct {
	TenantID      string          `json:"tenantId"`
	ExportedAt    time.Time       `json:"exportedAt"`
	Orders        json.RawMessage `json:"orders"`
	PersonalLinks json.RawMessage `json:"personalLinks"`
}

// Export returns everything that is stored about a person as one JSON document. It commits the audit row before it reads, and returns
// nothing to an actor who has lost the permission meanwhile.
func (c *Coordinator) Export(ctx context.Context, s Subject, by store.By) ([]byte, error) {
	f, err := c.find(ctx, s)
	if err != nil {
		return nil, err
	}
	request := c.request(s, uuid.Must(uuid.NewV7()).String(), store.ExportPerson, f)
	if err := c.deps.Store.RecordPersonRequest(ctx, by, request, retryAfter); err != nil {
		return nil, err
	}
	links, err := c.deps.Links.ExportPersonRecords(ctx, &privacyv1.ExportPersonRecordsRequest{
		TenantId: s.TenantID, RequestedBy: by.Actor, RecordIds: f.links,
	})
	if err != nil {
		return nil, fmt.Errorf("export links: %w", err)
	}
	orders, err := c.deps.Orders.ExportPersonRecords(ctx, &privacyv1.ExportPersonRecordsRequest{
		TenantId: s.TenantID, RequestedBy: by.Actor, RecordIds: f.orders,
	})
	if err != nil {
		return nil, fmt.Errorf("export orders: %w", err)
	}
	if err := c.deps.Store.Permit(ctx, s.TenantID, by); err != nil {
		return nil, err
	}
	out, err := json.Marshal(document{
		TenantID: s.TenantID, ExportedAt: c.deps.Now().UTC(), Orders: orders.GetDocument(), PersonalLinks: links.GetDocument(),
	})
	if err == nil && len(out) > maxDocument {
		return nil, problem.New(problem.PayloadTooLarge, "The export is too large: export the orders and links one by one.")
	}
	return out, err
}
