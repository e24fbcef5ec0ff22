package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxPersonRecords is how many orders a person may have.
const maxPersonRecords = 2000

// FindPersonRecords lists the orders of a person.
func (s *Server) FindPersonRecords(
	ctx context.Context, req *privacyv1.FindPersonRecordsRequest,
) (*privacyv1.FindPersonRecordsResponse, error) {
	errs := caller.RequestErrors(ctx)
	person := store.PersonFilter{
		TenantID:            errs.RequiredUUID("tenantId", req.GetTenantId()),
		ExternalRecipientID: fields.Optional(req.ExternalRecipientId),
		OrderIDs:            errs.UUIDs("orderIds", req.GetOrderIds(), maxPersonRecords),
		LinkIDs:             errs.UUIDs("personalLinkIds", req.GetPersonalLinkIds(), maxPersonRecords),
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := s.Store.PersonOrders(ctx, person, maxPersonRecords+1)
	if err != nil {
		return nil, err
	}
	unpublished, err := outbox.Unpublished(ctx, s.Store.Pool(), person.TenantID, person.OrderIDs)
	return &privacyv1.FindPersonRecordsResponse{Records: personRecords(found), Unpublished: unpublished}, err
}

func personRecords(orders []*ordersv1.Order) []*privacyv1.PersonRecord {
	records := make([]*privacyv1.PersonRecord, len(orders))
	for i, o := range orders {
		records[i] = &privacyv1.PersonRecord{
			OrderId: new(o.GetId()), PersonalLinkId: o.PersonalLinkId, InFlight: rules.InFlight(o.GetStatus()),
		}
	}
	return records
}

// personRequest has the fields that erasing and exporting share.
type personRequest interface {
	GetTenantId() string
	GetRequestedBy() *commonv1.Actor
	GetRecordIds() []string
}

// admitPerson checks the form of a request. The tenants service has checked what the actor may do.
func admitPerson(ctx context.Context, op ordersv1.Operation, req personRequest) (rules.Audit, []string, error) {
	errs := caller.RequestErrors(ctx)
	caller.CheckActor(req.GetRequestedBy(), errs)
	a := rules.Audit{
		TenantID: errs.RequiredUUID("tenantId", req.GetTenantId()), Actor: req.GetRequestedBy(), Operation: op,
	}
	ids := errs.UUIDs("recordIds", req.GetRecordIds(), maxPersonRecords)
	return a, ids, errs.Err()
}

// ErasePersonRecords erases the personal data of orders.
func (s *Server) ErasePersonRecords(
	ctx context.Context, req *privacyv1.ErasePersonRecordsRequest,
) (*privacyv1.ErasePersonRecordsResponse, error) {
	a, ids, err := admitPerson(ctx, ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA, req)
	if err != nil {
		return nil, err
	}
	records, err := s.Store.ErasePersonalData(ctx, a, ids, func(locked []*rules.Current) ([]*rules.Change, error) {
		if err := refuseInFlight(locked); err != nil {
			return nil, err
		}
		changes := make([]*rules.Change, len(locked))
		for i, current := range locked {
			var err error
			if changes[i], err = rules.ErasePersonalData(current, s.now()); err != nil {
				return nil, err
			}
		}
		return changes, nil
	})
	if err != nil {
		return nil, err
	}
	// An answer that is stored from now on has the erased order.
	_, err = idempotency.RewriteOf(ctx, s.Store.Pool(), req.GetKeyIds(), func(_ int32, answer proto.Message) (bool, error) {
		order, _ := answer.(*ordersv1.Order) // The actions of the sandbox store the order itself.
		if withOrder, ok := answer.(interface{ GetOrder() *ordersv1.Order }); ok {
			order = withOrder.GetOrder()
		}
		return slices.Contains(ids, order.GetId()) && rules.EraseInAnswer(order), nil
	})
	return &privacyv1.ErasePersonRecordsResponse{Records: personRecords(records)}, err
}

func refuseInFlight(orders []*rules.Current) error {
	var ids []string
	p := problem.New(problem.NotEditable, "")
	for _, o := range orders {
		if status := o.Record.GetStatus(); rules.InFlight(status) {
			ids, p.CurrentStatus = append(ids, o.Record.GetId()), enumname.String(status)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	p.OrderID = ids[0]
	p.Detail = "The details of an order in flight are needed to deliver it. Complete or cancel first: " + strings.Join(ids, ", ") + "."
	return p
}

// maxExport is in bytes. With this document and that of the links, a response stays below the largest gRPC message.
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
	if err := s.Store.AuditRead(ctx, a); err != nil {
		return nil, err
	}
	read, err := s.readFile(ctx, a)
	if err != nil {
		return nil, err
	}
	withNotes := a.Actor.GetKind() == commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT
	_, messages, err := s.Store.Messages(ctx, a.TenantID, a.OrderID, withNotes)
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
