package server_test

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/retention"
)

const kept = 90 * 24 * time.Hour

// step makes one random call.
func (m *modelRun) step() {
	m.advance()
	if len(m.orders) == 0 || m.chance(8) {
		m.placeSomehow()
	} else {
		o := oneOf(m, m.orders...)
		m.say("%s v%d %s erased=%t", o.record.GetStatus(), o.record.GetVersion(), o.record.GetId(), o.erased)
		oneOf(m, m.stepCorrectDelivery, m.stepCancel, m.stepApprove, m.stepDispatch, m.stepDeliver, m.stepCorrectTracking,
			m.stepCorrectStatus, m.stepCorrectStatus, m.stepPost, m.stepAside, m.stepInSandbox, m.stepInSandbox)(o)
		m.check(o)
	}
	m.checkStock()
}

// placeSomehow places an order through one of the channels, or repeats an earlier request.
func (m *modelRun) placeSomehow() {
	o := &modelOrder{campaign: m.chance(2), name: "Marked Recipient", comment: "Marked comment", record: &ordersv1.Order{BrandId: brandID}}
	req := request(newID())
	if m.chance(6) && len(m.orders) > 0 {
		req.ExternalOrderId = oneOf(m, m.orders...).record.GetExternalOrderId()
	}
	o.record.Items = []*ordersv1.OrderItem{{
		Kind: ordersv1.ItemKind_ITEM_KIND_CATALOG, ProductId: new(productID), ProductName: "Mug", Variations: map[string]string{"Size": "M"},
	}}
	o.record.DeliveryCountry = "SE"
	if o.campaign {
		req.CampaignId = new(campaignID)
		o.record.CampaignId = req.CampaignId
	} else if m.chance(4) {
		req.Items = []*ordersv1.OrderItemInput{{CustomProductName: new("A ball"), Budget: &commonv1.Money{Amount: "10", Currency: "SEK"}}}
		o.record.Items = []*ordersv1.OrderItem{{Kind: ordersv1.ItemKind_ITEM_KIND_CUSTOM, ProductName: "A ball"}}
	}
	switch m.random.IntN(5) {
	case 0:
		m.placeAs(o, req, operator(), ordersv1.OrderSource_ORDER_SOURCE_BACKOFFICE)
	case 1:
		m.placeAs(o, req, person(aMember), ordersv1.OrderSource_ORDER_SOURCE_WORKSPACE)
	case 2:
		m.placeClaim(o)
	default:
		m.placeByKey(o, req)
	}
}

// adopt copies the values that only the service can choose.
func (m *modelRun) adopt(o *modelOrder, answer *ordersv1.Order) {
	o.record.Id, o.record.Reference = answer.GetId(), answer.GetReference()
	o.record.ReceivedOutsideActiveHours = answer.GetReceivedOutsideActiveHours()
}

func (m *modelRun) placeByKey(o *modelOrder, req *ordersv1.PlaceOrderRequest) {
	m.say("place by key, campaign=%t external=%s", o.campaign, req.GetExternalOrderId())
	if req.GetExternalOrderId() == "" {
		req.ExternalOrderId = newID()
	}
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.PlaceOrderResponse, error) {
		return m.PlaceOrder(ctx, proto.CloneOf(req))
	})
	o.record.Source, o.record.ExternalOrderId = ordersv1.OrderSource_ORDER_SOURCE_API, &req.ExternalOrderId
	m.adopt(o, resp.GetOrder())
	m.agree(o, m.place(o, theKey), resp.GetOrder(), err)
}

func (m *modelRun) placeAs(o *modelOrder, req *ordersv1.PlaceOrderRequest, a *commonv1.Actor, source ordersv1.OrderSource) {
	id := newID()
	if m.chance(4) && len(m.orders) > 0 {
		m.placeAgain(oneOf(m, m.orders...), req, a, source)
		return
	}
	m.say("place by %s, campaign=%t external=%s", a.GetKind(), o.campaign, req.GetExternalOrderId())
	if req.GetExternalOrderId() != "" && m.chance(6) {
		_, err := m.PlaceOrderAs(m.t.Context(), placeAs(a, id, req))
		m.agree(nil, problem.InvalidRequest, nil, err)
		return
	}
	req.ExternalOrderId = ""
	resp, err := m.PlaceOrderAs(m.t.Context(), placeAs(a, id, req))
	o.record.Source = source
	m.adopt(o, resp.GetOrder())
	want := m.place(o, 0)
	m.agree(o, want, resp.GetOrder(), err)
	if want == "" {
		require.Equal(m.t, id, resp.GetOrder().GetId())
		o.audits++
	}
}

func (m *modelRun) placeAgain(o *modelOrder, req *ordersv1.PlaceOrderRequest, a *commonv1.Actor, source ordersv1.OrderSource) {
	m.say("place %s again", o.record.GetId())
	resp, err := m.PlaceOrderAs(m.t.Context(), placeAs(a, o.record.GetId(), req))
	if o.record.GetSource() != source {
		m.agree(o, problem.IdempotencyKeyReused, nil, err)
		return
	}
	o.audits++
	m.agree(o, "", resp.GetOrder(), err)
}

func (m *modelRun) placeClaim(o *modelOrder) {
	m.say("place by a claim, campaign=%t", o.campaign)
	r := claim()
	r.OrderId, r.PersonalLinkId, r.CampaignId = newID(), newID(), o.record.CampaignId
	resp, err := m.PlaceClaimedOrder(m.t.Context(), r)
	o.record.Source = ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK
	o.record.PersonalLinkId, o.record.ExternalRecipientId = &r.PersonalLinkId, new("player-1")
	o.record.Items[0] = &ordersv1.OrderItem{
		Kind: ordersv1.ItemKind_ITEM_KIND_CATALOG, ProductId: new(productID), ProductName: "Mug", Variations: map[string]string{"Size": "M"},
	}
	if !o.campaign {
		o.record.Selection = ordersv1.OrderSelection_ORDER_SELECTION_CATALOG.Enum()
	}
	o.comment = ""
	m.adopt(o, resp.GetOrder())
	m.agree(o, m.place(o, 0), resp.GetOrder(), err)
}

func (m *modelRun) stepCorrectDelivery(o *modelOrder) {
	c := delivery{version: o.record.GetVersion()}
	if m.chance(5) {
		c.version--
	}
	if m.chance(2) {
		c.name = new(oneOf(m, "Marked One", "Marked Two", "Marked Two", ""))
	}
	if m.chance(2) {
		c.comment = new(oneOf(m, "", "ring", "knock"))
	}
	if m.chance(3) {
		c.urgent = new(m.chance(2))
	}
	if m.chance(4) {
		c.country = new(oneOf(m, "SE", "SE", "NO"))
	}
	var recipient *ordersv1.DeliveryCorrection
	if c.name != nil || c.country != nil {
		recipient = &ordersv1.DeliveryCorrection{Name: c.name}
		if c.country != nil {
			recipient.Address = &ordersv1.AddressCorrection{Country: c.country}
		}
	}
	if m.chance(2) {
		states, holds := m.condition(o)
		c.stale = !holds
		m.say("correct delivery by key: %+v", c)
		resp, err := asKey(m, func(ctx context.Context) (*ordersv1.UpdateDeliveryResponse, error) {
			return m.UpdateDelivery(ifMatch(ctx, states...), &ordersv1.UpdateDeliveryRequest{
				OrderId: o.record.GetId(), ExpectedVersion: &c.version, Recipient: recipient, CourierComment: c.comment, Urgent: c.urgent,
			})
		})
		m.agree(o, m.correctDelivery(o, c, theKey), resp.GetOrder(), err)
		return
	}
	m.say("correct delivery by a person: %+v", c)
	resp, err := m.CorrectDelivery(m.t.Context(), &ordersv1.CorrectDeliveryRequest{
		Actor: oneOf(m, operator(), person(aMember)), TenantId: tenantID, OrderId: o.record.GetId(),
		ExpectedVersion: &c.version, Recipient: recipient, CourierComment: c.comment, Urgent: c.urgent,
	})
	m.audited(o, m.correctDelivery(o, c, 0), resp.GetOrder(), err)
}

// audited is agree for an operation, which adds an audit row if it is accepted.
func (m *modelRun) audited(o *modelOrder, want problem.Code, answer *ordersv1.Order, err error) {
	m.t.Helper()
	m.agree(o, want, answer, err)
	if want == "" {
		o.audits++
	}
}

func (m *modelRun) stepCancel(o *modelOrder) {
	reason := "reason " + strconv.Itoa(m.random.IntN(100))
	if m.chance(2) {
		states, holds := m.condition(o)
		m.say("cancel by key, condition holds: %t", holds)
		resp, err := asKey(m, func(ctx context.Context) (*ordersv1.CancelOrderResponse, error) {
			return m.CancelOrder(ifMatch(ctx, states...), &ordersv1.CancelOrderRequest{OrderId: o.record.GetId(), Reason: reason})
		})
		m.agree(o, m.model.cancel(o, holds, reason, theKey), resp.GetOrder(), err)
		return
	}
	m.say("cancel by a person")
	resp, err := m.CancelOrderAs(m.t.Context(), &ordersv1.CancelOrderAsRequest{
		Actor: oneOf(m, operator(), person(aMember)), TenantId: tenantID, OrderId: o.record.GetId(), Reason: reason,
	})
	m.audited(o, m.model.cancel(o, true, reason, 0), resp.GetOrder(), err)
}

func (m *modelRun) stepApprove(o *modelOrder) {
	a := oneOf(m, person(anAdministrator), person(aCoordinator), person(aMember), operator())
	m.say("approve by %s", a.GetId())
	resp, err := m.ApproveOrder(m.t.Context(), &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenantID, OrderId: o.record.GetId()})
	if a.GetId() != anAdministrator && a.GetId() != aCoordinator {
		m.agree(o, problem.InsufficientScope, nil, err)
		return
	}
	m.audited(o, m.model.approve(o), resp.GetOrder(), err)
}

func (m *modelRun) stepDispatch(o *modelOrder) {
	s := parcel(oneOf(m, "T-1", "T-2"))
	m.say("dispatch as %s", s.GetTrackingReference())
	resp, err := m.DispatchOrder(m.t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: oneOf(m, operator(), theSystem()), TenantId: tenantID, OrderId: o.record.GetId(), Shipment: s,
	})
	m.audited(o, m.model.dispatch(o, s), resp.GetOrder(), err)
}

func (m *modelRun) stepDeliver(o *modelOrder) {
	m.say("deliver")
	resp, err := m.DeliverOrder(m.t.Context(), &ordersv1.DeliverOrderRequest{
		Actor: oneOf(m, operator(), theSystem()), TenantId: tenantID, OrderId: o.record.GetId(),
	})
	m.audited(o, m.model.deliver(o), resp.GetOrder(), err)
}

func (m *modelRun) stepCorrectTracking(o *modelOrder) {
	s := parcel(oneOf(m, "T-1", "T-2", "T-3"))
	m.say("correct tracking to %s", s.GetTrackingReference())
	resp, err := m.CorrectTracking(m.t.Context(), &ordersv1.CorrectTrackingRequest{
		Actor: operator(), TenantId: tenantID, OrderId: o.record.GetId(), Shipment: s,
	})
	m.audited(o, m.correctTracking(o, s), resp.GetOrder(), err)
}

func (m *modelRun) stepCorrectStatus(o *modelOrder) {
	target := oneOf(m, requestedStatus, processingStatus, processingStatus, sentStatus, completedStatus, cancelledStatus)
	if o.erased && m.catalogDown {
		return // The model does not know whether the unit is still held for the next attempt.
	}
	reason := ""
	if target == cancelledStatus {
		reason = "corrected"
	}
	m.say("correct status to %s", target)
	resp, err := m.CorrectStatus(m.t.Context(), &ordersv1.CorrectStatusRequest{
		Actor: operator(), TenantId: tenantID, OrderId: o.record.GetId(), Status: target, Reason: reason,
	})
	m.audited(o, m.correctStatus(o, target, reason), resp.GetOrder(), err)
}

func (m *modelRun) stepPost(o *modelOrder) {
	body := "text " + strconv.Itoa(m.random.IntN(100))
	if m.chance(3) {
		states, holds := m.condition(o)
		m.say("message by key, condition holds: %t", holds)
		resp, err := asKey(m, func(ctx context.Context) (*ordersv1.PostOrderMessageResponse, error) {
			return m.PostOrderMessage(ifMatch(ctx, states...), &ordersv1.PostOrderMessageRequest{OrderId: o.record.GetId(), Body: body})
		})
		if !holds {
			m.agree(o, problem.PreconditionFailed, nil, err)
			return
		}
		require.NoError(m.t, err)
		m.post(o, &ordersv1.ConversationEntry{AuthorId: strconv.Itoa(theKey), Message: &ordersv1.OrderMessage{
			Id: resp.GetId(), Body: body,
			Author: &ordersv1.MessageAuthor{Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_API_KEY, Name: "Shop"},
		}}, theKey)
		return
	}
	o.audits++
	if m.chance(3) {
		m.stepNote(o, body)
		return
	}
	m.say("message by a client")
	req := message(aClient(), o.record.GetId(), body)
	e := &ordersv1.ConversationEntry{AuthorId: "client-1", Message: &ordersv1.OrderMessage{
		Id: req.GetMessageId(), Body: body,
		Author: &ordersv1.MessageAuthor{Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_CLIENT, Name: "Cleo"},
	}}
	m.post(o, e, 0)
	for range 1 + m.random.IntN(2) { // Sometimes twice.
		resp, err := m.PostMessageAs(m.t.Context(), req)
		require.NoError(m.t, err)
		require.True(m.t, proto.Equal(e, resp.GetEntry()), "want %v\ngot  %v", e, resp.GetEntry())
		o.audits++
	}
	o.audits--
}

func (m *modelRun) stepNote(o *modelOrder, body string) {
	m.say("note")
	id := newID()
	resp, err := m.AddInternalNote(m.t.Context(), &ordersv1.AddInternalNoteRequest{
		Actor: operator(), TenantId: tenantID, OrderId: o.record.GetId(), MessageId: id, Body: body,
	})
	require.NoError(m.t, err)
	e := &ordersv1.ConversationEntry{AuthorId: "staff-1", Internal: true, Message: &ordersv1.OrderMessage{
		Id: id, Body: body,
		Author: &ordersv1.MessageAuthor{Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT, Name: operatorName},
	}}
	m.post(o, e, 0)
	require.True(m.t, proto.Equal(e, resp.GetEntry()))
}

var errCatalogDown = errors.New("catalog is down")

func (m *modelRun) setDown(down bool) {
	m.catalogDown = down
	if down {
		m.catalog.setDown(errCatalogDown)
	} else {
		m.catalog.setDown(nil)
	}
}

// stepAside takes a step that is not a call on the order.
func (m *modelRun) stepAside(*modelOrder) {
	switch m.random.IntN(7) {
	case 0, 1:
		m.repeat()
	case 2, 5:
		m.say("erase")
		m.erase(kept)
		require.NoError(m.t, m.sweep(m.t, m.now, retention.Config{Details: kept, Audit: 100 * 365 * 24 * time.Hour}))
	case 3:
		m.say("reconcile")
		err := m.reservations.Reconcile(m.t.Context())
		if m.catalogDown && m.owed > 0 {
			require.ErrorIs(m.t, err, errCatalogDown)
		}
		if !m.catalogDown {
			require.NoError(m.t, err)
			m.returnOwed()
		}
	case 4:
		m.approval = m.chance(2)
		m.say("approval required: %t", m.approval)
		m.setApproval()
	default:
		down := m.chance(3)
		m.say("catalog down: %t", down)
		m.setDown(down)
	}
}
