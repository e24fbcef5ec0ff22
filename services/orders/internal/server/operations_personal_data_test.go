package server_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/resealing"
	"github.com/partnergifting/platform/services/orders/internal/retention"
)

// planted marks every field of an order that may name or locate somebody.
func planted(externalID string) *ordersv1.PlaceOrderRequest {
	r := request(externalID)
	r.Recipient.Address.PostalCode = proto.String("Marked-1")
	r.Customization = &ordersv1.OrderCustomization{Details: "Marked engraving"}
	r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: fieldID, TextValue: proto.String("Marked answer")}}
	return r
}

// TestNothingPersonalLeavesTheSealedColumn runs every operation that meets personal data, also where
// it fails, and looks for the marks in all that is kept, logged or told to others.
func TestNothingPersonalLeavesTheSealedColumn(t *testing.T) {
	d := openDesk(t)
	d.tenants.settings.Tenant.CustomFields = []*tenantsv1.CustomField{{
		Id: fieldID, Label: "Why", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT,
	}}
	var told, logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	d.recovery.Log = log
	note := func(err error) {
		if err != nil {
			fmt.Fprintf(&told, "%+v\n", err)
			log.Error("call failed", "error", err)
		}
	}
	d.everythingPersonal(t, note)
	_, err := d.pool.Exec(t.Context(), `ALTER TABLE order_audit ADD CONSTRAINT spoiled CHECK (false) NOT VALID`)
	require.NoError(t, err)
	d.everythingPersonal(t, note)
	_, err = d.pool.Exec(t.Context(), `ALTER TABLE order_audit DROP CONSTRAINT spoiled`)
	require.NoError(t, err)
	note(resealing.Run(t.Context(), d.Store, 10, &told))
	erase := &retention.Retention{Store: d.Store, Log: log, Clock: func() time.Time { return d.now.AddDate(0, 6, 0) }}
	note(erase.Sweep(t.Context()))
	note(d.recovery.Settle(t.Context()))

	require.Contains(t, logged.String(), "spoiled", "the faults were logged")
	requireUnmarked(t, "answers and progress", told.String())
	requireUnmarked(t, "log", logged.String())
	rows, err := d.pool.Query(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
	require.NoError(t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(t, rows.Err())
	require.Subset(t, tables, []string{"orders", "outbox", "order_audit", "order_messages", "idempotency_answers"})
	for _, table := range tables {
		var text *string
		require.NoError(t, d.pool.QueryRow(t.Context(), "SELECT string_agg(to_jsonb(x)::text, '') FROM "+table+" x").Scan(&text))
		if text != nil {
			requireUnmarked(t, table, *text)
		}
	}
	require.Positive(t, count(t, d.pool, "order_audit"))
	require.Positive(t, count(t, d.pool, "outbox"))
}

// everythingPersonal places, corrects and reads orders with marked details. What is answered is the
// order, or for the one reading that is for it, the details.
func (d *desk) everythingPersonal(t *testing.T, note func(err error)) {
	t.Helper()
	external := newID()
	placed, err := d.PlaceOrder(as(t, external), planted(external))
	require.NoError(t, err)
	id := placed.GetOrder().GetId()
	_, err = d.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: person(anAdministrator), TenantId: tenantID, OrderId: id})
	note(err)
	_, err = d.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), planted("")))
	note(err)
	_, err = d.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), planted(external)))
	note(err)
	faulty := planted("")
	faulty.Recipient.Phone, faulty.Recipient.Name = "Marked phone", strings.Repeat("Marked", 50)
	_, err = d.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), faulty))
	note(err)
	for _, version := range []int64{1, 0} {
		_, err = d.CorrectDelivery(t.Context(), &ordersv1.CorrectDeliveryRequest{
			Actor: person(aPlainMember), TenantId: tenantID, OrderId: id, ExpectedVersion: &version,
			CourierComment: proto.String("Marked correction"), Recipient: &ordersv1.DeliveryCorrection{
				Name: proto.String("Marked Other"), Phone: proto.String("+46 70 999 88 77"), Email: proto.String("marked@example.com"),
				Address: &ordersv1.AddressCorrection{
					Street: proto.String("Marked Road 2"), City: proto.String("Markedville"), PostalCode: proto.String("Marked-2"),
				},
			},
		})
		note(err)
	}
	_, err = d.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	note(err)
	_, err = d.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1"),
	})
	note(err)
	_, err = d.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	note(err)
}

func requireUnmarked(t *testing.T, where, text string) {
	t.Helper()
	text = strings.ToLower(text)
	for _, mark := range []string{"marked", "701234567", "709998877"} {
		require.NotContains(t, text, mark, where)
		require.NotContains(t, text, hex.EncodeToString([]byte(mark)), where)
		require.NotContains(t, text, hex.EncodeToString([]byte(strings.ToUpper(mark[:1])+mark[1:])), where)
	}
}
