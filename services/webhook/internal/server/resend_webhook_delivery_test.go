package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

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

func TestAnAttemptInFlightIsRecordedDespiteAResend(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	id := rules.DeliveryID(key, o.add(key))
	leased := o.lease()
	got, err := o.resend("k1", id)
	require.NoError(t, err)
	require.Equal(t, webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_PENDING, got.GetState())
	require.EqualValues(t, 1, o.woken.Load())
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
	_, err := o.resend("k1", rules.DeliveryID(key+1, event))
	require.True(t, problem.Is(err, problem.NotFound), "of another key: %v", err)
	req := &webhookv1.ResendWebhookDeliveryRequest{DeliveryId: rules.DeliveryID(key, event)}
	_, err = o.client.ResendWebhookDelivery(o.keyContext(key, otherTenant), req)
	require.True(t, problem.Is(err, problem.NotFound), "of another tenant: %v", err)
	require.Zero(t, o.due())
	_, err = o.resend("k1", rules.DeliveryID(key, event))
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
