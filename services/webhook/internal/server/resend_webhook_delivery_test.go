package server_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func (o *own) resend(idempotencyKey, id string) (*webhookv1.WebhookDelivery, error) {
	resp, err := o.client.ResendWebhookDelivery(
		o.keyed(idempotencyKey, id), &webhookv1.ResendWebhookDeliveryRequest{DeliveryId: id})
	return resp.GetDelivery(), err
}

// due counts the deliveries of the key that are due.
func (o *own) due() (n int) {
	o.fixture.t.Helper()
	require.NoError(o.fixture.t, o.pool.QueryRow(o.fixture.t.Context(),
		"SELECT count(*) FROM deliveries WHERE tenant_id = $1 AND key_id = $2 AND next_attempt_at <= now()", tenant, key).Scan(&n))
	return n
}

func TestAFinishedDeliveryIsSentAgainOncePerKey(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	event := o.add(key)
	o.attempt(failed, rules.Answered(500))
	id := rules.DeliveryID(key, event)

	got, err := o.resend("k1", id)
	require.NoError(t, err)
	require.Equal(t, webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_PENDING, got.GetState())
	require.Len(t, got.GetAttempts(), 1)
	require.NotNil(t, got.GetNextAttemptAt())
	require.EqualValues(t, 1, o.woken.Load())
	require.Equal(t, got.String(), o.list(&webhookv1.ListWebhookDeliveriesRequest{}).GetItems()[0].String(), "as the list shows it")

	o.attempt(delivered, rules.Answered(200))
	again, err := o.resend("k1", id)
	require.NoError(t, err)
	require.Equal(t, got.String(), again.String(), "the stored answer")
	require.Zero(t, o.due(), "a repetition has no second effect")
	_, err = o.resend("k2", id)
	require.NoError(t, err)
	require.Equal(t, 1, o.due(), "another key has one")
}

func TestAnAttemptInFlightIsRecordedDespiteAResend(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	id := rules.DeliveryID(key, o.add(key))
	leased := o.lease()
	got, err := o.resend("k1", id)
	require.NoError(t, err)
	require.Equal(t, webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_PENDING, got.GetState())
	require.Equal(t, 0, o.replayed("k2", lately()))
	require.Empty(t, o.lease(), "it is not sent twice")
	o.record(leased, delivered, rules.Answered(200), nil)
	require.Equal(t, webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_DELIVERED,
		o.list(&webhookv1.ListWebhookDeliveriesRequest{}).GetItems()[0].GetState())
}

func TestOnlyTheOwnDeliveriesAreFound(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	event := o.add(key, key+1)
	o.attempt(failed, rules.Answered(500))
	for name, id := range map[string]string{
		"of another key": rules.DeliveryID(key+1, event), "the event": event, "unknown": uuid.NewString(), "no UUID": "x",
	} {
		_, err := o.resend(name, id)
		require.True(t, problem.Is(err, problem.NotFound), "%s: %v", name, err)
	}
	req := &webhookv1.ResendWebhookDeliveryRequest{DeliveryId: rules.DeliveryID(key, event)}
	_, err := o.client.ResendWebhookDelivery(o.as(key, other), req)
	require.True(t, problem.Is(err, problem.NotFound), "of another tenant: %v", err)
	require.Zero(t, o.due())
	_, err = o.resend("unknown", rules.DeliveryID(key, event))
	require.NoError(t, err, "the Idempotency-Key of what was not found is free")
}

func TestConcurrentResendsHaveOneEffect(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	id := rules.DeliveryID(key, o.add(key))
	o.attempt(failed, rules.Answered(500))
	var group errgroup.Group
	for _, idempotencyKey := range []string{"same", "same", "other"} {
		group.Go(func() error {
			_, err := o.resend(idempotencyKey, id)
			if problem.Is(err, problem.IdempotencyInProgress) {
				return nil
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, 1, o.due())
	var before int
	require.NoError(t, o.pool.QueryRow(t.Context(),
		"SELECT attempts_before FROM deliveries WHERE tenant_id = $1 AND key_id = $2", tenant, key).Scan(&before))
	require.Equal(t, 1, before)
}

func TestAnInvalidBodyOfAResendIsReported(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	ctx := o.call(key, tenant, caller.Request{IdempotencyKey: "k", Fingerprint: []byte("f"), Violations: []problem.Violation{
		{Code: problem.FieldInvalid, Message: "the body is not JSON"},
	}})
	_, err := o.client.ResendWebhookDelivery(ctx, &webhookv1.ResendWebhookDeliveryRequest{DeliveryId: uuid.NewString()})
	require.Equal(t, []string{""}, violated(t, err))
}
