package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/retention"
)

func (d *desk) file(t *testing.T, a *commonv1.Actor, id string) *ordersv1.ReadOrderResponse {
	t.Helper()
	resp, err := d.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
	return resp
}

func TestAnOrderIsReadWithItsDetails(t *testing.T) {
	d := openDesk(t)
	d.tenants.settings.Tenant.CustomFields = []*tenantsv1.CustomField{{
		Id: fieldID, Label: "Why", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT,
	}}
	r := request("o-1")
	r.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: proto.String("A ball"), Budget: &commonv1.Money{Amount: "12.5", Currency: "SEK"},
	}}
	r.ManagerEmail, r.AfterHoursServiceAccepted = proto.String("ann@example.com"), proto.Bool(true)
	r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: fieldID, TextValue: proto.String("Because")}}
	placed, err := d.PlaceOrder(as(t, "k"), r)
	require.NoError(t, err)

	got := d.file(t, person(aPlainMember), placed.GetOrder().GetId())
	require.True(t, proto.Equal(placed.GetOrder(), got.GetOrder()))
	require.True(t, proto.Equal(&ordersv1.Fulfilment{
		Budget:    &commonv1.Money{Amount: "12.50", Currency: "SEK"},
		ManagerId: proto.String(aMember), PlacedByKey: proto.String("Shop"), AfterHoursServiceAccepted: true,
	}, got.GetFulfilment()), "%v", got.GetFulfilment())
	recipient := r.GetRecipient()
	recipient.Phone = "+46701234567"
	require.True(t, proto.Equal(&ordersv1.DeliveryDetails{
		Client: r.GetClient(), Recipient: recipient, CourierComment: "Marked comment", AdditionalDetails: "Marked note",
		CustomFields: r.GetCustomFields(),
	}, got.GetDetails()), "%v", got.GetDetails())
}

func TestTheTeamDoesNotReadWhereAPlayerLives(t *testing.T) {
	d := openDesk(t)
	resp, err := claims(d.fixture).PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	withheld := d.file(t, person(anAdministrator), resp.GetOrder().GetId())
	require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_WITHHELD, withheld.GetDetailsState())
	require.Nil(t, withheld.GetDetails())
	read := d.file(t, operator(), resp.GetOrder().GetId())
	require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, read.GetDetailsState())
	require.Equal(t, "Marked Street 1", read.GetDetails().GetRecipient().GetAddress().GetStreet())
}

func TestDetailsAreErasedAWhileAfterTheEnd(t *testing.T) {
	d := openDesk(t)
	now := d.now
	// What the clock stands at when the order ends, and what becomes of it.
	over, cancelled := d.in(t, completedStatus), d.in(t, cancelledStatus)
	open := []*ordersv1.Order{d.in(t, requestedStatus), d.in(t, processingStatus), d.in(t, sentStatus)}
	d.now = now.Add(time.Hour)
	later := d.in(t, completedStatus)

	r := &retention.Retention{
		Store: d.Store, Details: 90 * 24 * time.Hour, Clock: func() time.Time { return now.Add(90*24*time.Hour + time.Minute) },
	}
	require.NoError(t, r.Sweep(t.Context()))
	require.NoError(t, r.Sweep(t.Context()))
	for _, o := range []*ordersv1.Order{over, cancelled} {
		require.True(t, proto.Equal(o, d.read(t, o.GetId())), "the record stays as it is")
		got := d.file(t, operator(), o.GetId())
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_ERASED, got.GetDetailsState())
		require.Nil(t, got.GetDetails())
		require.Len(t, d.eventsOf(t, o.GetId()), recordedBefore(o))
	}
	for _, o := range append(open, later) {
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, d.file(t, operator(), o.GetId()).GetDetailsState())
	}

	t.Run("an erased order stays over", func(t *testing.T) {
		for _, target := range []ordersv1.OrderStatus{requestedStatus, processingStatus, sentStatus} {
			_, err := d.correct(t, cancelled.GetId(), target)
			require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
		}
		_, err := d.correct(t, cancelled.GetId(), completedStatus)
		require.NoError(t, err)
		_, err = d.correct(t, over.GetId(), cancelledStatus)
		require.NoError(t, err)
	})
	t.Run("and can be talked about", func(t *testing.T) {
		_, err := d.PostMessageAs(t.Context(), message(operator(), over.GetId(), "late thanks"))
		require.NoError(t, err)
	})
	t.Run("an order reopened in time keeps its details", func(t *testing.T) {
		_, err := d.correct(t, later.GetId(), processingStatus)
		require.NoError(t, err)
		r.Clock = func() time.Time { return now.AddDate(5, 0, 0) }
		r.Audit = 100 * 365 * 24 * time.Hour
		require.NoError(t, r.Sweep(t.Context()))
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, d.file(t, operator(), later.GetId()).GetDetailsState())
	})
}

func TestTheAuditIsDeletedAfterItsTimeOnly(t *testing.T) {
	d := openDesk(t)
	order := d.in(t, processingStatus)
	_, err := d.pool.Exec(t.Context(), `INSERT INTO order_audit (id, at, tenant_id, order_id, actor_kind, actor_id, operation)
SELECT gen_random_uuid(), now() - make_interval(days => n), $1, $2, 'SYSTEM', '', 'READ' FROM unnest(ARRAY[400, 1200]) AS n`,
		tenantID, order.GetId())
	require.NoError(t, err)
	r := &retention.Retention{Store: d.Store}
	require.NoError(t, r.Sweep(t.Context()))
	require.Equal(t, 2, count(t, d.pool, "order_audit"), "three years are kept")
	r.Audit = retention.MinAudit
	require.NoError(t, r.Sweep(t.Context()))
	require.Equal(t, 1, count(t, d.pool, "order_audit"))
	r.Clock = func() time.Time { return time.Now().AddDate(10, 0, 0) }
	require.ErrorContains(t, r.Sweep(t.Context()), "append-only", "a clock that is wrong deletes nothing")
	require.Equal(t, 1, count(t, d.pool, "order_audit"))
}
