package store

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// newEvent builds the row of the outbox for the change that has just been made to the link.
// originKeyID is the key whose request made it; 0 when it was no key's.
func newEvent(l *rules.Link, kind string, originKeyID int32) (outbox.Event, error) {
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
