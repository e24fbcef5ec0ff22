package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxExport keeps the document below the largest gRPC message, together with the links.
const maxExport = 14 << 20

// exportedOrder is an order in the document.
type exportedOrder struct {
	// File is a ReadOrderResponse: the order with its delivery details.
	File     json.RawMessage `json:"file"`
	Messages json.RawMessage `json:"messages"`
}

// ExportPersonRecords returns orders with their details and messages. The team sees what it sees elsewhere: neither the details of
// an order that a player placed, nor internal notes.
func (s *Server) ExportPersonRecords(
	ctx context.Context, req *privacyv1.ExportPersonRecordsRequest,
) (*privacyv1.ExportPersonRecordsResponse, error) {
	a, ids, err := admitPerson(ctx, ordersv1.Operation_OPERATION_EXPORT_PERSONAL_DATA, req)
	if err != nil {
		return nil, err
	}
	document := bytes.NewBufferString("[")
	for _, id := range ids {
		a.OrderID = id
		order, err := s.exportOrder(ctx, a)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if document.Len() > 1 {
			document.WriteByte(',')
		}
		document.Write(order)
		if document.Len() > maxExport {
			return nil, problem.New(problem.PayloadTooLarge, "The export is too large: export the orders and links one by one.")
		}
	}
	document.WriteByte(']')
	return &privacyv1.ExportPersonRecordsResponse{Document: document.Bytes()}, nil
}

// exportOrder commits the audit row before it reads.
func (s *Server) exportOrder(ctx context.Context, a rules.Audit) (_ []byte, err error) {
	if err := s.store.AuditRead(ctx, a); err != nil {
		return nil, err
	}
	read, err := s.readFile(ctx, a)
	if err != nil {
		return nil, err
	}
	withNotes := a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT
	_, messages, err := s.store.Messages(ctx, a.TenantID, a.OrderID, withNotes)
	if err != nil {
		return nil, err
	}
	entries := make([]*ordersv1.ConversationEntry, len(messages))
	for i, m := range messages {
		entries[i] = conversationEntry(m)
	}
	var order exportedOrder
	if order.File, err = restjson.Marshal(read); err != nil {
		return nil, fmt.Errorf("export order: %w", err)
	}
	if order.Messages, err = (restjson.Marshaler{}).Marshal(entries); err != nil {
		return nil, fmt.Errorf("export messages: %w", err)
	}
	return json.Marshal(order)
}
