package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	healthy = webhookv1.WebhookState_WEBHOOK_STATE_HEALTHY
	failing = webhookv1.WebhookState_WEBHOOK_STATE_FAILING
	paused  = webhookv1.WebhookState_WEBHOOK_STATE_PAUSED
	none    = webhookv1.WebhookState_WEBHOOK_STATE_NONE
)

func (o *own) health() *webhookv1.GetWebhookHealthResponse {
	o.fixture.t.Helper()
	got, err := o.client.GetWebhookHealth(o.keyContext(key, tenant), &webhookv1.GetWebhookHealthRequest{})
	require.NoError(o.fixture.t, err)
	return got
}

func (o *own) setEndpoint(state tenantsv1.EndpointState) {
	e := o.receiver.Endpoint(key)
	e.State = state
	o.directory.SetEndpoint(e)
}

func TestTheHealthOfAWebhookFollowsItsLastAttempt(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	for _, c := range []struct {
		verdict rules.Verdict
		status  int
	}{{delivered, 200}, {rules.Verdict{State: rules.Pending, Counted: true, Wait: time.Hour}, 503}, {failed, 500}} {
		o.add(key)
		o.attempt(c.verdict, rules.Answered(c.status))
	}
	got := o.health()
	require.Equal(t, failing, got.GetState())
	require.Contains(t, got.GetLastError(), "500")
	require.EqualValues(t, 1, got.GetPending())
	first := pgtest.Value[time.Time](t, o.pool,
		"SELECT started_at FROM attempts WHERE tenant_id = $1 AND response_status = 503", tenant)
	require.Equal(t, first.UTC(), got.GetFailingSince().AsTime(), "since the first failure after the last success")

	o.add(key)
	o.attempt(delivered, rules.Answered(200))
	again := o.health()
	require.Equal(t, healthy, again.GetState())
	require.Nil(t, again.GetFailingSince())
	require.Contains(t, again.GetLastError(), "500", "for those who ask too late")
}

func TestTheHealthIsThatOfTheKey(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	o.add(key + 1)
	o.attempt(failed, rules.Answered(500))
	o.add(key + 1)
	got := o.health()
	require.Equal(t, healthy, got.GetState())
	require.Nil(t, got.LastError)
	require.Zero(t, got.GetPending())
}

func TestAWebhookThatIsNotSentIsPausedOrNone(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	for state, want := range map[tenantsv1.EndpointState]webhookv1.WebhookState{
		tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED: paused, tenantsv1.EndpointState_ENDPOINT_STATE_UNSPECIFIED: paused, 99: paused,
		tenantsv1.EndpointState_ENDPOINT_STATE_GONE: none, tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE: healthy,
	} {
		o.setEndpoint(state)
		require.Equal(t, want, o.health().GetState(), state)
	}
	other, err := o.client.GetWebhookHealth(o.keyContext(key+5, tenant), &webhookv1.GetWebhookHealthRequest{})
	require.NoError(t, err)
	require.Equal(t, none, other.GetState(), "a key that the directory does not know")
}

func TestAWebhookWhoseEventsDoNotOpenIsPaused(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	ref := seal.EventRef{TenantID: tenant, EventID: uuid.Must(uuid.NewV7()).String()}
	sealed, _ := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys("lost")), ref, "x")
	_, err := o.store.FanOut(t.Context(), 0, []store.Event{{
		TenantID: tenant, ID: ref.EventID, Type: "order.message_posted", BrandID: brand, SubjectID: uuid.NewString(),
		Body: append(append([]byte(`{"data":`), sealed...), '}'), KeyIDs: []int32{key},
	}})
	require.NoError(t, err)
	require.Equal(t, paused, o.health().GetState())
	require.EqualValues(t, 1, o.health().GetPending())
	require.Len(t, o.list(&webhookv1.ListWebhookDeliveriesRequest{}).GetItems(), 1, "it is listed, as a list shows no body")
}

func TestAWebhookWhoseEventsWaitWithoutAnAttemptIsPaused(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	o.add(key)
	o.attempt(delivered, rules.Answered(200))
	o.add(key)
	require.Equal(t, healthy, o.health().GetState(), "it will be tried")
	makeOlder := func(table, column string) {
		pgtest.Exec(t, o.pool, "UPDATE "+table+" SET "+column+" = now() - interval '61 seconds' WHERE tenant_id = $1", tenant)
	}
	makeOlder("deliveries", "created_at")
	require.Equal(t, healthy, o.health().GetState(), "it waits for others, which are accepted")
	makeOlder("attempts", "started_at")
	require.Equal(t, paused, o.health().GetState())
	require.Nil(t, o.health().LastError)

	o.attempt(rules.Verdict{State: rules.Pending, Counted: true, Wait: time.Hour}, rules.Answered(503))
	require.Equal(t, failing, o.health().GetState(), "it was tried")
}
