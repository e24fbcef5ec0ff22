package server

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// maxSpan is how many events one page reads. A response of that many stays below the limit of gRPC messages.
const maxSpan = 100

// FeedEvents implements FeedEventsService.
type FeedEvents struct {
	eventsv1.UnimplementedFeedEventsServiceServer
	store *store.Store
}

// NewFeedEvents makes a server for other services.
func NewFeedEvents(s *store.Store) *FeedEvents { return &FeedEvents{store: s} }

// ListFeedEvents returns a page of the events that were recorded in a time span.
func (f *FeedEvents) ListFeedEvents(
	ctx context.Context, req *eventsv1.ListFeedEventsRequest,
) (*eventsv1.ListFeedEventsResponse, error) {
	var errs fields.Errors
	span := store.Span{
		From: instant("recordedFrom", req.GetRecordedFrom(), &errs), Before: instant("recordedBefore", req.GetRecordedBefore(), &errs),
	}
	if req.TenantId != nil {
		span.TenantID = errs.UUID("tenantId", req.GetTenantId())
	}
	tokens := page.Bind("feed events", span.TenantID, span.From.Format(time.RFC3339Nano), span.Before.Format(time.RFC3339Nano))
	after, err := decodeSpanPosition(tokens, req.PageToken)
	if err != nil {
		errs.Add("pageToken", problem.FieldInvalid, "is not a token of this list")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	changes, next, done, err := f.store.ScanSpan(ctx, span, after, maxSpan)
	if err != nil {
		return nil, err
	}
	resp := &eventsv1.ListFeedEventsResponse{Changes: changes}
	if !done {
		token := encodeSpanPosition(tokens, next)
		resp.NextPageToken = &token
	}
	return resp, nil
}

func instant(field string, at *timestamppb.Timestamp, errs *fields.Errors) time.Time {
	if at == nil || !at.IsValid() || at.GetSeconds() < 0 {
		errs.Add(field, problem.FieldInvalid, "must be an instant after 1970")
		return time.Time{}
	}
	return at.AsTime()
}

func encodeSpanPosition(b page.Binding, p store.SpanPosition) string {
	tenant := uuid.MustParse(p.TenantID)
	raw := binary.BigEndian.AppendUint32(nil, uint32(p.Day.Unix()/secondsOfDay)) //nolint:gosec // Days since 1970.
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.Number))                   //nolint:gosec // Read back as signed.
	return b.Encode(append(raw, tenant[:]...))
}

func decodeSpanPosition(b page.Binding, token *string) (store.SpanPosition, error) {
	if token == nil {
		return store.SpanPosition{}, nil
	}
	raw, err := b.Decode(*token)
	if err != nil || len(raw) != positionLen+len(uuid.UUID{}) {
		return store.SpanPosition{}, page.ErrCursor
	}
	return store.SpanPosition{
		Day:      time.Unix(int64(binary.BigEndian.Uint32(raw))*secondsOfDay, 0).UTC(),
		Number:   int64(binary.BigEndian.Uint64(raw[4:])), //nolint:gosec // Written from a signed value.
		TenantID: uuid.UUID(raw[positionLen:]).String(),
	}, nil
}
