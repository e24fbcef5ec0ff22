package server_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/orders/internal/retention"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	otherTenant = "0198f2e4-0000-7000-8000-0000000000ff"
	player      = "Marked-player-1"
)

// personal is an order with a value in every field that may say something about a person.
func personal() *ordersv1.PlaceOrderRequest {
	r := marked(newID())
	r.CustomFields, r.Customization = nil, nil
	r.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: new("Marked cup"), Budget: &commonv1.Money{Amount: "10.00", Currency: "SEK"},
	}}
	for _, name := range personalTexts() {
		if field := r.ProtoReflect().Descriptor().Fields().ByName(name); field != nil {
			r.ProtoReflect().Set(field, protoreflect.ValueOfString("Marked "+string(name)))
		}
	}
	r.ExternalRecipientId = new(player)
	return r
}

// personalTexts are the texts of a record that an erasure removes.
func personalTexts() (names []protoreflect.Name) {
	record := &ordersv1.Order{Items: []*ordersv1.OrderItem{{}}}
	fields := record.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Kind() == protoreflect.StringKind && field.HasOptionalKeyword() {
			record.ProtoReflect().Set(field, protoreflect.ValueOfString("x"))
		}
	}
	rules.EraseInAnswer(record)
	for i := range fields.Len() {
		if field := fields.Get(i); record.ProtoReflect().Get(field).String() == rules.Erased {
			names = append(names, field.Name())
		}
	}
	return names
}

// completed places a personal order, delivers it and adds a message and a note to it.
func (f *fixture) completed(t *testing.T) *ordersv1.Order {
	t.Helper()
	placed, err := f.PlaceOrder(f.keyContext(t, newID()), personal())
	require.NoError(t, err)
	id := placed.GetOrder().GetId()
	f.dispatch(t, id)
	f.deliver(t, id)
	for _, op := range []ordersv1.Operation{
		ordersv1.Operation_OPERATION_POST_MESSAGE, ordersv1.Operation_OPERATION_LIST_CONVERSATION,
	} {
		require.NoError(t, f.operate(t.Context(), op, aClient(), &ordersv1.Order{Id: id}))
	}
	_, err = f.AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, MessageId: newID(), Body: "Marked note",
	})
	require.NoError(t, err)
	return f.read(t, id)
}

// copyToOtherTenant gives another tenant orders that equal those of the tenant, under the same ids.
func (f *fixture) copyToOtherTenant(t *testing.T) {
	t.Helper()
	for _, copied := range []string{
		`INSERT INTO orders SELECT (jsonb_populate_record(o,
		   jsonb_build_object('tenant_id', $1::text, 'reference', gen_random_uuid()::text))).* FROM orders o`,
		`INSERT INTO order_messages
		   (tenant_id, order_id, id, author_kind, author_id, author_name, internal, body_sealed, body_bytes, created_at)
		 SELECT $1, order_id, id, author_kind, author_id, author_name, internal, body_sealed, body_bytes, created_at FROM order_messages`,
	} {
		_, err := f.pool.Exec(t.Context(), copied, otherTenant)
		require.NoError(t, err)
	}
}

// rowsOf returns the rows of the tenant's table as JSON objects.
func (f *fixture) rowsOf(t *testing.T, table, tenant string) []map[string]any {
	t.Helper()
	rows, err := f.pool.Query(t.Context(), "SELECT to_jsonb(x) FROM "+table+" x WHERE tenant_id = $1 ORDER BY id", tenant)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[map[string]any])
	require.NoError(t, err)
	return found
}

func (f *fixture) eraseRecords(t *testing.T, ids ...string) error {
	t.Helper()
	_, err := f.ErasePersonRecords(t.Context(), &privacyv1.ErasePersonRecordsRequest{
		TenantId: tenantID, RequestedBy: operator(), RecordIds: ids,
	})
	return err
}

func TestStoredAnswersOfAnErasedOrderAreErased(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second := personal(), personal()
	placed, err := f.PlaceOrder(f.keyContext(t, "first"), first)
	require.NoError(t, err)
	_, err = f.PlaceOrder(f.keyContext(t, "second"), second)
	require.NoError(t, err)
	id := placed.GetOrder().GetId()
	cancel := &ordersv1.CancelOrderRequest{OrderId: id, Reason: "Marked reason"}
	_, err = f.CancelOrder(f.keyContext(t, "cancel"), cancel)
	require.NoError(t, err)
	found, err := f.FindPersonRecords(t.Context(), &privacyv1.FindPersonRecordsRequest{TenantId: tenantID, OrderIds: []string{id}})
	require.NoError(t, err)
	require.EqualValues(t, 2, found.GetUnpublished())
	correct := &ordersv1.CorrectSandboxStatusRequest{OrderId: id, Status: completedStatus}
	_, err = f.CorrectSandboxStatus(f.keyContext(t, "correct"), correct)
	require.NoError(t, err)

	erase := func(keys ...int32) {
		_, err := f.ErasePersonRecords(t.Context(), &privacyv1.ErasePersonRecordsRequest{
			TenantId: tenantID, RequestedBy: operator(), RecordIds: []string{id}, KeyIds: keys,
		})
		require.NoError(t, err)
	}
	erase(theKey + 1)
	again, err := f.PlaceOrder(f.keyContext(t, "first"), first)
	require.NoError(t, err)
	require.Equal(t, player, again.GetOrder().GetExternalRecipientId(), "the answer to a key that is not named")
	for range 2 {
		erase(theKey)
		again, err = f.PlaceOrder(f.keyContext(t, "first"), first)
		require.NoError(t, err)
		require.Equal(t, id, again.GetOrder().GetId())
		require.Equal(t, "[erased]", again.GetOrder().GetExternalRecipientId())
		require.NotContains(t, strings.ToLower(again.String()), "marked")
		cancelled, err := f.CancelOrder(f.keyContext(t, "cancel"), cancel)
		require.NoError(t, err)
		require.Equal(t, "[erased]", cancelled.GetOrder().GetCancellationReason())
		require.NotContains(t, strings.ToLower(cancelled.String()), "marked")
		corrected, err := f.CorrectSandboxStatus(f.keyContext(t, "correct"), correct)
		require.NoError(t, err)
		require.Equal(t, completedStatus, corrected.GetOrder().GetStatus())
		require.NotContains(t, strings.ToLower(corrected.String()), "marked")
	}
	kept, err := f.PlaceOrder(f.keyContext(t, "second"), second)
	require.NoError(t, err)
	require.Equal(t, player, kept.GetOrder().GetExternalRecipientId(), "another order")
}

// What an erasure does to the columns beside the texts. Every other column stays.
var (
	erasedColumns   = strings.Fields(`product_name carrier tracking_reference tracking_url details_sealed`)
	countingColumns = strings.Fields(`version updated_at details_erased_at`)
)

func TestAnErasureChangesEveryColumnOfThePerson(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	id := f.completed(t).GetId()
	f.copyToOtherTenant(t)
	before, others := f.rowsOf(t, "orders", tenantID)[0], f.rowsOf(t, "orders", otherTenant)
	otherMessages := f.rowsOf(t, "order_messages", otherTenant)
	require.NoError(t, f.eraseRecords(t, id))
	after := f.rowsOf(t, "orders", tenantID)[0]
	erased := slices.Clone(erasedColumns)
	for _, name := range personalTexts() {
		erased = append(erased, string(name))
	}
	for column, value := range after {
		switch {
		case column == "cancellation_reason": // See TestACancelledOrderLosesItsReason.
		case slices.Contains(erased, column):
			require.NotNil(t, before[column], column)
			require.NotEqual(t, before[column], value, column)
		case !slices.Contains(countingColumns, column):
			require.Equal(t, before[column], value, column)
		}
	}
	requireUnmarked(t, "orders", encoded(t, after))
	messages := encoded(t, f.rowsOf(t, "order_messages", tenantID))
	requireUnmarked(t, "order_messages", messages)
	require.NotContains(t, messages, "Cleo", "the client of the tenant may be the person")
	require.NotContains(t, messages, "client-1")
	require.NotContains(t, encoded(t, f.rowsOf(t, "order_audit", tenantID)), "client-1")
	require.Equal(t, others, f.rowsOf(t, "orders", otherTenant))
	require.Equal(t, otherMessages, f.rowsOf(t, "order_messages", otherTenant))

	t.Run("the feed reports the new record", func(t *testing.T) {
		e := f.lastEvent(t)
		require.Equal(t, "order.updated", e.kind)
		require.Equal(t, id, e.subject)
		requireUnmarked(t, "event", string(e.data))
		for _, before := range f.events(t) {
			reported, err := seal.EraseEvent(before.data)
			require.NoError(t, err)
			requireUnmarked(t, "an event of before", string(reported))
		}
		require.InDelta(t, before["version"].(float64)+1, f.read(t, id).GetVersion(), 0)
	})
	t.Run("a repetition changes nothing, but erases what was written since", func(t *testing.T) {
		events := f.count(t, "outbox")
		require.NoError(t, f.operate(t.Context(), ordersv1.Operation_OPERATION_ADD_NOTE, operator(), &ordersv1.Order{Id: id}))
		require.NoError(t, f.eraseRecords(t, id))
		require.Equal(t, after, f.rowsOf(t, "orders", tenantID)[0])
		require.Equal(t, events, f.count(t, "outbox"))
		require.NoError(t, f.eraseRecords(t, id))
		require.Equal(t, 2, f.count(t, "order_audit WHERE operation = 'ERASE_PERSONAL_DATA'"), "of the order, and of the note")
		for _, m := range f.rowsOf(t, "order_messages", tenantID) {
			require.Nil(t, m["body_sealed"])
			require.Zero(t, m["body_bytes"])
		}
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestACancelledOrderLosesItsReason(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, newID()).GetId()
	f.cancel(t, id)
	require.NoError(t, f.eraseRecords(t, id))
	require.Equal(t, "[erased]", f.read(t, id).GetCancellationReason())
}

func TestAnOrderInFlightRefusesTheErasureOfAll(t *testing.T) {
	t.Parallel()
	f := setup(t)
	done, open := f.completed(t), f.placeOne(t, newID())
	err := f.eraseRecords(t, done.GetId(), open.GetId())
	p, _ := problem.As(err)
	require.Equal(t, problem.NotEditable, p.Code, "%v", err)
	require.Contains(t, p.Detail, open.GetId())
	require.NotContains(t, p.Detail, done.GetId())
	require.Equal(t, open.GetId(), p.OrderID)
	require.Equal(t, player, f.read(t, done.GetId()).GetExternalRecipientId())
	_, messages, err := f.store.Messages(t.Context(), tenantID, done.GetId(), true)
	require.NoError(t, err)
	require.Equal(t, "Marked note", messages[1].Record.GetBody())
}

func TestAPersonIsFoundByEachOfItsNames(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	done := f.completed(t)
	claimed, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	f.placeOne(t, newID())
	f.copyToOtherTenant(t)
	_, err = f.pool.Exec(t.Context(), "UPDATE orders SET status = 'PROCESSING' WHERE tenant_id = $1", otherTenant)
	require.NoError(t, err)
	find := func(req *privacyv1.FindPersonRecordsRequest) []*privacyv1.PersonRecord {
		req.TenantId = tenantID
		resp, err := f.FindPersonRecords(t.Context(), req)
		require.NoError(t, err)
		return resp.GetRecords()
	}
	byRecipient := find(&privacyv1.FindPersonRecordsRequest{ExternalRecipientId: new(player)})
	require.Len(t, byRecipient, 1)
	require.Equal(t, done.GetId(), byRecipient[0].GetOrderId())
	require.False(t, byRecipient[0].GetInFlight(), "that of the other tenant is")
	byLink := find(&privacyv1.FindPersonRecordsRequest{PersonalLinkIds: []string{linkID}})
	require.Len(t, byLink, 1)
	require.Equal(t, claimed.GetOrder().GetId(), byLink[0].GetOrderId())
	require.Equal(t, linkID, byLink[0].GetPersonalLinkId())
	require.True(t, byLink[0].GetInFlight())
	require.Len(t, find(&privacyv1.FindPersonRecordsRequest{OrderIds: []string{done.GetId(), newID()}}), 1)
	require.Empty(t, find(&privacyv1.FindPersonRecordsRequest{}))
}

func TestAnErasureAndOtherChangesRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.completed(t).GetId()
	problemtest.AtOnce(t, 12, func(i int) error {
		switch i % 3 {
		case 0:
			return f.eraseRecords(t, id)
		case 1:
			return f.operate(t.Context(), ordersv1.Operation_OPERATION_ADD_NOTE, operator(), &ordersv1.Order{Id: id})
		default:
			_, err := f.correct(t, id, completedStatus)
			return err
		}
	})
	events := f.eventsOf(t, id)
	require.Equal(t, "order.updated", events[len(events)-1])
	require.Equal(t, "order.message_posted", events[len(events)-2], "only one erasure changed the record")
	require.NoError(t, f.eraseRecords(t, id))
	requireUnmarked(t, "orders", encoded(t, f.rowsOf(t, "orders", tenantID)))
}

func TestAnExportHasEverythingThatTheActorMaySee(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	done := f.completed(t)
	claimed, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	f.copyToOtherTenant(t)
	export := func(tenant string, a *commonv1.Actor) (orders []map[string]any, text string) {
		resp, err := f.ExportPersonRecords(t.Context(), &privacyv1.ExportPersonRecordsRequest{
			TenantId: tenant, RequestedBy: a, RecordIds: []string{done.GetId(), newID(), claimed.GetOrder().GetId()},
		})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(resp.GetDocument(), &orders))
		require.Len(t, orders, 2)
		return orders, string(resp.GetDocument())
	}
	_, all := export(tenantID, operator())
	for _, part := range []string{
		player, "Marked external_action_ref", "Marked Recipient", "Marked Street 1", "Marked note", "Cleo", "T-1", `"COMPLETED"`,
		"Marked answer",
	} {
		require.Contains(t, all, part)
	}
	orders, seen := export(tenantID, person(anAdministrator))
	require.NotContains(t, seen, `"internal":true`)
	file, _ := orders[1]["file"].(map[string]any)
	require.Equal(t, "WITHHELD", file["detailsState"], "the tenant does not see where a player lives")
	require.NotContains(t, seen, "Marked answer")
	require.Equal(t, 1, f.count(t, "order_audit WHERE operation = 'EXPORT_PERSONAL_DATA' AND order_id = '"+done.GetId()+
		"' AND actor_id = '"+anAdministrator+"'"))
}

func TestTheExportOfATenantLacksWhatTheTenantMayNotSee(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	done := f.completed(t)
	claimed, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	rows := f.exportTenant(t)
	details := map[any]any{}
	for _, order := range rows["orders"] {
		details[order["id"]] = order["details"]
	}
	require.Len(t, details, 2)
	require.Contains(t, encoded(t, details[done.GetId()]), "Marked Street 1", "what the tenant has sent")
	require.Contains(t, details, claimed.GetOrder().GetId())
	require.Nil(t, details[claimed.GetOrder().GetId()], "the tenant does not see where a player lives")
	require.NotContains(t, encoded(t, rows), "Marked answer")
	require.NotEmpty(t, rows["order_messages"])
	require.Equal(t, 1, f.count(t, "order_messages WHERE internal"))
	for _, message := range rows["order_messages"] {
		require.Equal(t, false, message["internal"], message)
	}
}

// exportTenant returns the rows of the export by table.
func (f *fixture) exportTenant(t *testing.T) map[string][]map[string]any {
	t.Helper()
	db, rows := store.TenantData(f.pool, f.ring), map[string][]map[string]any{}
	for next, first := "", true; first || next != ""; first = false {
		var lines []byte
		var err error
		lines, next, err = db.Export(t.Context(), tenants.Tenant{ID: tenantID}, next)
		require.NoError(t, err)
		for line := range bytes.Lines(lines) {
			var exported struct {
				Table string
				Row   map[string]any
			}
			require.NoError(t, json.Unmarshal(line, &exported))
			rows[exported.Table] = append(rows[exported.Table], exported.Row)
		}
	}
	return rows
}

func TestAnOrderThatNobodyWorksOnIsClosed(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	const open = 365 * 24 * time.Hour
	cfg := retention.Config{Details: 100 * open, Open: open, Audit: 100 * open}
	start := f.clock
	requested, sent := f.placeInStatus(t, requestedStatus), f.placeInStatus(t, sentStatus)
	completed := f.placeInStatus(t, completedStatus)
	talked := f.placeInStatus(t, processingStatus)
	f.clock = start.Add(open)
	changed := f.placeInStatus(t, processingStatus)
	require.NoError(t, f.operate(t.Context(), ordersv1.Operation_OPERATION_POST_MESSAGE, operator(), talked))

	require.NoError(t, f.sweep(t, start.Add(open-time.Minute), cfg))
	require.Equal(t, requestedStatus, f.read(t, requested.GetId()).GetStatus())
	f.clock = start.Add(open + time.Hour)
	for range 2 {
		require.NoError(t, f.sweep(t, f.clock, cfg))
		for _, o := range []*ordersv1.Order{completed, changed, talked} {
			require.Equal(t, o.GetStatus(), f.read(t, o.GetId()).GetStatus())
			require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, f.file(t, operator(), o.GetId()).GetDetailsState())
		}
		after := f.read(t, requested.GetId())
		require.Equal(t, cancelledStatus, after.GetStatus())
		require.Contains(t, after.GetCancellationReason(), "retention")
		require.Equal(t, []string{"order.created", "order.status_changed"}, f.eventsOf(t, requested.GetId()))
		require.Equal(t, sentStatus, f.read(t, sent.GetId()).GetStatus(), "the parcel is on its way")
		for _, o := range []*ordersv1.Order{requested, sent} {
			require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_ERASED, f.file(t, operator(), o.GetId()).GetDetailsState())
		}
	}
	f.deliver(t, sent.GetId())
}

// Whoever works on an order has locked it, so the retention that has found it waits.
func TestAnOrderThatSomebodyWorksOnWhileItIsClosedStays(t *testing.T) {
	t.Parallel()
	const open = 365 * 24 * time.Hour
	for work, change := range map[string]string{
		"a change": `UPDATE orders SET version = version + 1, updated_at = $2 WHERE id = $1`,
		"a message": `INSERT INTO order_messages (tenant_id, order_id, id, author_kind, author_id, author_name, body_bytes, created_at)
SELECT tenant_id, id, gen_random_uuid(), 'API_KEY', '7', 'Shop', 0, $2::timestamptz FROM orders WHERE id = $1`,
	} {
		t.Run(work, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			order := f.placeInStatus(t, processingStatus)
			now := f.clock.Add(open + time.Hour)
			swept := make(chan error, 1)
			require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), "SELECT FROM orders WHERE id = $1 FOR UPDATE", order.GetId())
				require.NoError(t, err)
				cfg := retention.Config{Details: 100 * open, Open: open, Audit: 100 * open}
				go func() { swept <- f.sweep(t, now, cfg) }()
				require.Eventually(t, func() bool {
					var waits bool
					return f.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits) == nil && waits
				}, 30*time.Second, time.Millisecond)
				_, err = tx.Exec(t.Context(), change, order.GetId(), now.Add(-time.Minute))
				return err
			}))
			require.NoError(t, <-swept)
			require.Equal(t, processingStatus, f.read(t, order.GetId()).GetStatus())
			require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, f.file(t, operator(), order.GetId()).GetDetailsState())
		})
	}
}
