package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
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
func (o *own) due() int {
	o.fixture.t.Helper()
	return pgtest.Value[int](o.fixture.t, o.pool,
		"SELECT count(*) FROM deliveries WHERE tenant_id = $1 AND key_id = $2 AND next_attempt_at <= now()", tenant, key)
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
	before := pgtest.Value[int](t, o.pool, "SELECT attempts_before FROM deliveries WHERE tenant_id = $1 AND key_id = $2", tenant, key)
	require.Equal(t, 1, before)
}

func TestAnErasureReachesTheStoredAnswersOfResends(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	erased, kept := o.add(key), o.add(key)
	o.respond(failed, rules.Answered(500), []byte("echo: Ann"))
	response := func(idempotencyKey, event string) string {
		got, err := o.resend(idempotencyKey, rules.DeliveryID(key, event))
		require.NoError(t, err)
		return got.GetAttempts()[0].GetResponseBody()
	}
	erase := func() (sending int) {
		subject := pgtest.Value[string](t, o.pool, "SELECT subject_id FROM events WHERE tenant_id = $1 AND event_id = $2", tenant, erased)
		sending, err := o.server.EraseEvents(t.Context(), tenant, []string{subject})
		require.NoError(t, err)
		return sending
	}
	require.Equal(t, "echo: Ann", response("k1", erased))
	require.Equal(t, "echo: Ann", response("k2", kept))
	leased := o.lease()
	require.Equal(t, 1, erase())
	o.record(leased, delivered, rules.Answered(200), nil)
	require.Zero(t, erase())
	require.Equal(t, "[erased]", response("k1", erased))
	require.Equal(t, "echo: Ann", response("k2", kept))
}
