package server_test

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// model implements the API specification in memory, without the service's own rules.
type model struct {
	now      time.Time
	approval bool
	// stock is what the one SKU has left; owed are units whose return is not yet reported to the catalog.
	stock, owed int
	catalogDown bool
	orders      []*modelOrder
}

// modelOrder is one order: its record as every channel must see it, and the data stored with it.
type modelOrder struct {
	record        *ordersv1.Order
	campaign      bool
	name, comment string
	erased        bool
	events        []modelEvent
	messages      []*ordersv1.OrderMessage
	entries       []*ordersv1.ConversationEntry
	audits        int
}

type modelEvent struct {
	kind   string
	origin int32
	data   proto.Message
}

func later(now, previous time.Time) time.Time {
	if now.After(previous) {
		return now
	}
	return previous.Add(time.Microsecond)
}

func (m *model) instant() time.Time { return m.now.UTC().Truncate(time.Microsecond) }

// taken reports whether the tenant has an order with the external id.
func (m *model) taken(external string) bool {
	for _, o := range m.orders {
		if external != "" && o.record.GetExternalOrderId() == external {
			return true
		}
	}
	return false
}

// place returns the outcome for a valid order.
func (m *model) place(o *modelOrder, origin int32) problem.Code {
	if o.campaign && m.stock == 0 {
		return problem.OutOfStock
	}
	if m.taken(o.record.GetExternalOrderId()) {
		if o.campaign && m.catalogDown {
			m.stock, m.owed = m.stock-1, m.owed+1
		}
		return problem.ExternalOrderIDConflict
	}
	if o.campaign {
		m.stock--
	}
	o.record.Status = processingStatus
	if m.approval && o.record.GetSource() != ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK {
		o.record.Status = requestedStatus
	}
	o.record.CreatedAt = timestamppb.New(m.instant())
	o.record.UpdatedAt = o.record.GetCreatedAt()
	m.orders = append(m.orders, o)
	o.events = []modelEvent{{"order.created", origin, proto.CloneOf(o.record)}}
	return ""
}

// change turns the record into its next version.
func (m *model) change(o *modelOrder) {
	o.record.Version++
	o.record.UpdatedAt = timestamppb.New(later(m.instant(), o.record.GetUpdatedAt().AsTime()))
}

func (m *model) setStatus(o *modelOrder, status ordersv1.OrderStatus, origin int32) {
	previous := o.record.GetStatus()
	o.record.Status = status
	m.change(o)
	o.events = append(o.events, modelEvent{"order.status_changed", origin, &ordersv1.OrderStatusChanged{
		Order: proto.CloneOf(o.record), PreviousStatus: previous,
	}})
}

func (m *model) update(o *modelOrder, origin int32) {
	m.change(o)
	o.events = append(o.events, modelEvent{"order.updated", origin, proto.CloneOf(o.record)})
}

func (m *model) release(o *modelOrder) {
	switch {
	case !o.campaign:
	case m.catalogDown:
		m.owed++
	default:
		m.stock++
	}
}

func (m *model) approve(o *modelOrder) problem.Code {
	switch o.record.GetStatus() {
	case requestedStatus:
		m.setStatus(o, processingStatus, 0)
		return ""
	case processingStatus:
		return ""
	default:
		return problem.NotEditable
	}
}

func (m *model) dispatch(o *modelOrder, s *ordersv1.Shipment) problem.Code {
	if o.record.GetStatus() == sentStatus && len(o.record.GetShipments()) == 1 && proto.Equal(o.record.GetShipments()[0], s) {
		return ""
	}
	if o.record.GetStatus() != processingStatus {
		return problem.NotEditable
	}
	o.record.Shipments = []*ordersv1.Shipment{s}
	m.setStatus(o, sentStatus, 0)
	return ""
}

func (m *model) deliver(o *modelOrder) problem.Code {
	switch o.record.GetStatus() {
	case sentStatus:
		m.setStatus(o, completedStatus, 0)
		return ""
	case completedStatus:
		return ""
	default:
		return problem.NotEditable
	}
}

func (m *model) correctTracking(o *modelOrder, s *ordersv1.Shipment) problem.Code {
	if o.record.GetStatus() != sentStatus {
		return problem.NotEditable
	}
	if len(o.record.GetShipments()) == 1 && proto.Equal(o.record.GetShipments()[0], s) {
		return ""
	}
	o.record.Shipments = []*ordersv1.Shipment{s}
	m.update(o, 0)
	return ""
}

// cancel cancels the order if the caller's condition holds.
func (m *model) cancel(o *modelOrder, holds bool, reason string, origin int32) problem.Code {
	switch o.record.GetStatus() {
	case requestedStatus, processingStatus:
		if !holds {
			return problem.PreconditionFailed
		}
		o.record.CancellationReason = &reason
		m.setStatus(o, cancelledStatus, origin)
		m.release(o)
		return ""
	case cancelledStatus:
		if !holds {
			return problem.PreconditionFailed
		}
		return ""
	default:
		return problem.NotCancellable
	}
}

func (m *model) correctStatus(o *modelOrder, target ordersv1.OrderStatus, reason string) problem.Code {
	from := o.record.GetStatus()
	if from == target {
		return ""
	}
	if from == cancelledStatus && o.campaign && m.stock == 0 {
		return problem.OutOfStock
	}
	if o.erased && target != completedStatus && target != cancelledStatus {
		return problem.NotEditable
	}
	if from == cancelledStatus && o.campaign {
		m.stock--
	}
	o.record.CancellationReason = nil
	if target == cancelledStatus {
		o.record.CancellationReason = &reason
		m.release(o)
	}
	if from != completedStatus || target != sentStatus {
		o.record.Shipments = nil
	}
	m.setStatus(o, target, 0)
	return ""
}

// delivery is a correction: a member that was not sent is nil. It is stale if the caller's condition does not hold.
type delivery struct {
	version                int64
	stale                  bool
	name, comment, country *string
	urgent                 *bool
}

func (m *model) correctDelivery(o *modelOrder, c delivery, origin int32) problem.Code {
	switch {
	case o.record.GetStatus() != processingStatus:
		return problem.NotEditable
	case c.stale:
		return problem.PreconditionFailed
	case c.version != o.record.GetVersion():
		return problem.VersionConflict
	case c.name != nil && *c.name == "":
		return problem.InvalidRequest
	case c.country != nil && *c.country != o.record.GetDeliveryCountry():
		return problem.CountryChangeNotAllowed
	}
	name, comment, urgent := o.name, o.comment, o.record.GetUrgent()
	if c.name != nil {
		name = *c.name
	}
	if c.comment != nil {
		comment = *c.comment
	}
	if c.urgent != nil {
		urgent = *c.urgent
	}
	if name == o.name && comment == o.comment && urgent == o.record.GetUrgent() {
		return ""
	}
	o.name, o.comment, o.record.Urgent = name, comment, urgent
	m.update(o, origin)
	return ""
}

// post adds a message or note to the order; the record does not change.
func (m *model) post(o *modelOrder, e *ordersv1.ConversationEntry, origin int32) {
	at := m.instant()
	if n := len(o.entries); n > 0 {
		at = later(at, o.entries[n-1].GetMessage().GetCreatedAt().AsTime())
	}
	e.Message.CreatedAt = timestamppb.New(at)
	o.entries = append(o.entries, e)
	if e.GetInternal() {
		return
	}
	o.messages = append(o.messages, e.GetMessage())
	o.events = append(o.events, modelEvent{"order.message_posted", origin, &ordersv1.OrderMessagePosted{
		OrderId: o.record.GetId(), ExternalOrderId: o.record.ExternalOrderId, Message: e.GetMessage(),
	}})
}

// erase erases the details of orders that were over for longer than keep.
func (m *model) erase(keep time.Duration) {
	for _, o := range m.orders {
		over := o.record.GetStatus() == completedStatus || o.record.GetStatus() == cancelledStatus
		if over && o.record.GetUpdatedAt().AsTime().Before(m.now.Add(-keep)) {
			o.erased = true
		}
	}
}

func (m *model) returnOwed() {
	m.stock, m.owed = m.stock+m.owed, 0
}
