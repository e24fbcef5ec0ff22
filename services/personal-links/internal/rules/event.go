package rules

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/restjson"
)

// The events of a link.
const (
	EventCreated   = "personal_link.created"
	EventApproved  = "personal_link.approved"
	EventClaimed   = "personal_link.claimed"
	EventCancelled = "personal_link.cancelled"
)

// Event is the change that has just been made to l. originKeyID is the key whose request made it; 0
// when it was no key.
func Event(l *Link, kind string, originKeyID int32) (outbox.Event, error) {
	data, err := restjson.Marshal(l.Record)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return outbox.Event{
		ID:          uuid.Must(uuid.NewV7()).String(),
		Type:        kind,
		TenantID:    l.TenantID,
		BrandID:     l.Record.GetBrandId(),
		SubjectID:   l.Record.GetId(),
		OriginKeyID: originKeyID,
		OccurredAt:  l.Record.GetUpdatedAt().AsTime(),
		Data:        data,
	}, nil
}
