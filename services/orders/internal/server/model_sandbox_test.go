package server_test

import (
	"context"
	"strconv"

	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// stepInSandbox lets the key do what people do. The model does the same as for people.
func (m *modelRun) stepInSandbox(o *modelOrder) {
	oneOf(m, m.sandboxApprove, m.sandboxDispatch, m.sandboxDeliver, m.sandboxTracking, m.sandboxStatus, m.sandboxMessage)(o)
}

func (m *modelRun) sandboxApprove(o *modelOrder) {
	m.say("approve in the sandbox")
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.ApproveSandboxOrderResponse, error) {
		return m.ApproveSandboxOrder(ctx, approval(o.record.GetId()))
	})
	m.audited(o, m.model.approve(o), resp.GetOrder(), err)
}

func (m *modelRun) sandboxDispatch(o *modelOrder) {
	s := parcel(oneOf(m, "T-1", "T-2"))
	m.say("dispatch in the sandbox as %s", s.GetTrackingReference())
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.DispatchSandboxOrderResponse, error) {
		return m.DispatchSandboxOrder(ctx, &ordersv1.DispatchSandboxOrderRequest{
			OrderId: o.record.GetId(), Carrier: &s.Carrier, TrackingReference: &s.TrackingReference, TrackingUrl: &s.TrackingUrl,
		})
	})
	m.audited(o, m.model.dispatch(o, s), resp.GetOrder(), err)
}

func (m *modelRun) sandboxDeliver(o *modelOrder) {
	m.say("deliver in the sandbox")
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.DeliverSandboxOrderResponse, error) {
		return m.DeliverSandboxOrder(ctx, &ordersv1.DeliverSandboxOrderRequest{OrderId: o.record.GetId()})
	})
	m.audited(o, m.model.deliver(o), resp.GetOrder(), err)
}

func (m *modelRun) sandboxTracking(o *modelOrder) {
	s := parcel(oneOf(m, "T-1", "T-2", "T-3"))
	m.say("correct tracking in the sandbox to %s", s.GetTrackingReference())
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.CorrectSandboxTrackingResponse, error) {
		return m.CorrectSandboxTracking(ctx, &ordersv1.CorrectSandboxTrackingRequest{
			OrderId: o.record.GetId(), Carrier: &s.Carrier, TrackingReference: &s.TrackingReference, TrackingUrl: &s.TrackingUrl,
		})
	})
	m.audited(o, m.correctTracking(o, s), resp.GetOrder(), err)
}

func (m *modelRun) sandboxStatus(o *modelOrder) {
	target := oneOf(m, requestedStatus, processingStatus, processingStatus, sentStatus, completedStatus, cancelledStatus)
	if o.erased && m.catalogDown {
		return // The model does not know whether the unit is still held for the next attempt.
	}
	m.say("correct status in the sandbox to %s", target)
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.CorrectSandboxStatusResponse, error) {
		return m.CorrectSandboxStatus(ctx, &ordersv1.CorrectSandboxStatusRequest{OrderId: o.record.GetId(), Status: target})
	})
	m.audited(o, m.correctStatus(o, target, "Cancelled in the sandbox."), resp.GetOrder(), err)
}

func (m *modelRun) sandboxMessage(o *modelOrder) {
	body := "text " + strconv.Itoa(m.random.IntN(100))
	m.say("message in the sandbox")
	resp, err := asKey(m, func(ctx context.Context) (*ordersv1.PostSandboxMessageResponse, error) {
		return m.PostSandboxMessage(ctx, &ordersv1.PostSandboxMessageRequest{OrderId: o.record.GetId(), Body: body})
	})
	require.NoError(m.t, err)
	o.audits++
	m.post(o, &ordersv1.ConversationEntry{AuthorId: "Sandbox", Message: &ordersv1.OrderMessage{
		Id: resp.GetId(), Body: body,
		Author: &ordersv1.MessageAuthor{Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT, Name: operatorName},
	}}, 0)
}
