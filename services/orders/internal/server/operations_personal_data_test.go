package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// marked sets every field that may name or locate a person to a searchable text.
func marked(externalID string) *ordersv1.PlaceOrderRequest {
	r := request(externalID)
	r.Recipient.Address.PostalCode = new("Marked-1")
	r.Customization = &ordersv1.OrderCustomization{Details: "Marked engraving"}
	r.CustomFields = []*ordersv1.CustomFieldAnswer{{FieldId: fieldID, TextValue: new("Marked answer")}}
	return r
}

// TestNothingPersonalLeavesTheSealedColumn runs every operation that handles personal data, also with failures, and searches
// everything that is stored, logged or sent for those texts.
func TestNothingPersonalLeavesTheSealedColumn(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	f.changeTenant(func(s *tenantsv1.Tenant) {
		s.CustomFields = []*tenantsv1.CustomField{{Id: fieldID, Label: "Why", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}}
	})
	var reported bytes.Buffer
	note := func(err error) {
		if err != nil {
			fmt.Fprintf(&reported, "%+v\n", err)
			f.log.Error("call failed", "error", err)
		}
	}
	f.everythingPersonal(t, note)
	_, err := f.pool.Exec(t.Context(), `ALTER TABLE order_audit ADD CONSTRAINT spoiled CHECK (false) NOT VALID`)
	require.NoError(t, err)
	f.everythingPersonal(t, note)
	_, err = f.pool.Exec(t.Context(), `ALTER TABLE order_audit DROP CONSTRAINT spoiled`)
	require.NoError(t, err)
	newKey := "n2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", 32)))
	keys := newKey + ",k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	for _, table := range store.SealedColumns() {
		note(seal.ReEncrypt(t.Context(), postgres.Config{URL: f.pool.Config().ConnString()}, keys, table, &reported))
	}
	f.requireOpens(t, newKey)
	note(f.sweep(t, f.clock.AddDate(0, 6, 0), shortRetention))
	note(f.reservations.Reconcile(t.Context()))

	require.Contains(t, f.logged.String(), "spoiled", "the failures were logged")
	requireUnmarked(t, "answers and progress", reported.String())
	requireUnmarked(t, "log", f.logged.String())
	rows, err := f.pool.Query(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, tables, []string{"orders", "outbox", "order_audit", "order_messages", "idempotency_answers"})
	for _, table := range tables {
		var text *string
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT string_agg(to_jsonb(x)::text, '') FROM "+table+" x").Scan(&text))
		if text != nil {
			requireUnmarked(t, table, *text)
		}
	}
	require.Positive(t, f.count(t, "order_audit"))
	require.Positive(t, f.count(t, "outbox"))
}

// requireOpens checks that the key alone opens the details and messages of every order.
func (f *fixture) requireOpens(t *testing.T, key string) {
	t.Helper()
	ring, err := seal.ParseRing(key)
	require.NoError(t, err)
	rows, err := f.pool.Query(t.Context(), "SELECT id FROM orders")
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, id := range ids {
		_, messages, err := store.New(f.pool, ring, nil).Messages(t.Context(), tenantID, id, true)
		require.NoError(t, err)
		for _, m := range messages {
			require.Equal(t, "Marked message", m.Record.GetBody())
		}
		require.Equal(t, "Marked Client", detailsIn(t, store.New(f.pool, ring, nil), id).Client.Name)
	}
}

// detailsIn are the details of an order as the store opens them.
func detailsIn(t *testing.T, s *store.Store, id string) rules.Details {
	t.Helper()
	file, err := s.GetFull(t.Context(), tenantID, id)
	require.NoError(t, err)
	details, err := file.Details()
	require.NoError(t, err)
	return details
}

// everythingPersonal places, corrects and reads orders with marked details.
func (f *fixture) everythingPersonal(t *testing.T, note func(err error)) {
	t.Helper()
	external := newID()
	placed, err := f.PlaceOrder(f.keyContext(t, external), marked(external))
	require.NoError(t, err)
	id := placed.GetOrder().GetId()
	_, err = f.ApproveOrder(t.Context(),
		&ordersv1.ApproveOrderRequest{Actor: person(anAdministrator), TenantId: tenantID, OrderId: id})
	note(err)
	_, err = f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), marked("")))
	note(err)
	_, err = f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), marked(external)))
	note(err)
	invalid := marked("")
	invalid.Recipient.Phone, invalid.Recipient.Name = "Marked phone", strings.Repeat("Marked", 50)
	_, err = f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), invalid))
	note(err)
	for _, version := range []int64{1, 0} {
		_, err = f.CorrectDelivery(t.Context(), &ordersv1.CorrectDeliveryRequest{
			Actor: person(aMember), TenantId: tenantID, OrderId: id, ExpectedVersion: &version,
			CourierComment: new("Marked correction"), Recipient: &ordersv1.DeliveryCorrection{
				Name: new("Marked Other"), Phone: new("+46 70 999 88 77"), Email: new("marked@example.com"),
				Address: &ordersv1.AddressCorrection{
					Street: new("Marked Road 2"), City: new("Markedville"), PostalCode: new("Marked-2"),
				},
			},
		})
		note(err)
	}
	_, err = f.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	note(err)
	_, err = f.postMessage(t, newID(), id, "Marked message")
	note(err)
	_, err = f.AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, MessageId: newID(), Body: "Marked message",
	})
	note(err)
	_, err = f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1"),
	})
	note(err)
	_, err = f.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
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
