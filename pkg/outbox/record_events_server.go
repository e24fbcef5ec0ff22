package outbox

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// maxRecords of a request.
const maxRecords = 2000

// RecordEventsServer implements RecordEventsService, by which services that store events erase what these say about a person.
type RecordEventsServer struct {
	privacyv1.UnimplementedRecordEventsServiceServer

	// Erase erases the stored events of orders and links. sending is how many are in flight to receivers, not erased.
	Erase func(ctx context.Context, tenantID string, subjectIDs []string) (sending int, err error)
	// Remainders says for how long copies that cannot be changed are kept, by their place. It is nil if there are none.
	Remainders func() map[string]time.Duration
}

// EraseRecordEvents erases what the events of records say about a person.
func (s *RecordEventsServer) EraseRecordEvents(
	ctx context.Context, req *privacyv1.EraseRecordEventsRequest,
) (*privacyv1.EraseRecordEventsResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.RequiredUUID("tenantId", req.GetTenantId())
	if len(req.GetRecordIds()) > maxRecords {
		errs.Add("recordIds", problem.FieldInvalid, "must hold at most 2000 ids")
	}
	ids := make([]string, len(req.GetRecordIds()))
	for i, id := range req.GetRecordIds() {
		ids[i] = errs.UUID("recordIds", id)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	sending, err := s.Erase(ctx, tenantID, ids)
	if err != nil {
		return nil, err
	}
	resp := &privacyv1.EraseRecordEventsResponse{Done: sending == 0}
	if s.Remainders == nil {
		return resp, nil
	}
	for place, kept := range s.Remainders() {
		if kept > 0 {
			resp.Remainders = append(resp.Remainders, &privacyv1.Remainder{Place: place, Kept: durationpb.New(kept)})
		}
	}
	return resp, nil
}
