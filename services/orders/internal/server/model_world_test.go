package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const theKey = 7

// world runs one random sequence of calls against the service and the model.
type world struct {
	*desk
	model
	t         *testing.T
	random    *rand.Rand
	warehouse *warehouse
	// past are calls of the key that a repetition must answer alike.
	past  []pastCall
	trace []string
}

type pastCall struct {
	context context.Context
	call    func(ctx context.Context) (proto.Message, error)
	answer  proto.Message
	fault   *problem.Error
}

// begin gives the desk a world of its own: a new SKU and no orders in the model.
func begin(t *testing.T, d *desk, seed uint64) *world {
	d.now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := &world{
		desk: d, t: t, random: rand.New(rand.NewPCG(seed, 0)), warehouse: newWarehouse(2),
		model: model{now: d.now, stock: 2},
	}
	d.stockUp(m.warehouse)
	m.setApproval()
	return m
}

func (m *world) say(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// chance is true once in n.
func (m *world) chance(n int) bool { return m.random.IntN(n) == 0 }

func oneOf[T any](m *world, of ...T) T { return of[m.random.IntN(len(of))] }

// key is the context of a new request of the API key.
func (m *world) key() context.Context {
	p := caller.Principal{TenantID: tenantID, KeyID: theKey, KeyName: "Shop", AllBrands: true, TenantVersion: m.tenants.settings.GetVersion()}
	id := newID()
	return caller.WithRequest(caller.WithPrincipal(m.t.Context(), p), caller.Request{IdempotencyKey: id, Fingerprint: []byte(id), ID: id})
}

// advance lets time pass: mostly a little, now and then not at all, backwards, or by a season.
func (m *world) advance() {
	switch m.random.IntN(20) {
	case 0:
	case 1:
		m.now = m.now.Add(-time.Minute)
	case 2:
		m.now = m.now.AddDate(0, 0, 100)
	default:
		m.now = m.now.Add(time.Duration(1 + m.random.IntN(1e9)))
	}
	m.fixture.now = m.now
}

func (m *world) setApproval() {
	settings := proto.CloneOf(m.tenants.settings)
	settings.Version++
	settings.Tenant.ApprovalRequired = m.approval
	m.tenants.settings = settings
}

// asKey makes a request of the key and remembers what a repetition must be answered.
func asKey[R proto.Message](m *world, call func(ctx context.Context) (R, error)) (R, error) {
	ctx := m.key()
	answer, err := call(ctx)
	p, fault := problem.As(err)
	stored := !fault || problem.Lookup(p.Code).Status == 409 || problem.Lookup(p.Code).Status == 422
	if stored && (err == nil || fault) {
		past := pastCall{context: ctx, answer: answer, fault: p, call: func(ctx context.Context) (proto.Message, error) { return call(ctx) }}
		if err == nil {
			past.answer = proto.Clone(answer)
		}
		m.past = append(m.past, past)
	}
	return answer, err
}

// repeat makes an earlier request of the key once more.
func (m *world) repeat() {
	if len(m.past) == 0 {
		return
	}
	past := m.past[m.random.IntN(len(m.past))]
	m.say("repeat an earlier request")
	answer, err := past.call(past.context)
	if past.fault == nil {
		require.NoError(m.t, err)
		require.True(m.t, proto.Equal(past.answer, answer), "%v\n%v", past.answer, answer)
		return
	}
	p, ok := problem.As(err)
	require.True(m.t, ok, "%v", err)
	require.Equal(m.t, past.fault.Code, p.Code)
	require.Equal(m.t, past.fault.CurrentStatus, p.CurrentStatus)
	require.Equal(m.t, past.fault.OrderID, p.OrderID)
}

// agree compares what the service did with what the model says of it.
func (m *world) agree(o *modelOrder, want problem.Code, answer *ordersv1.Order, err error) {
	m.t.Helper()
	if want != "" {
		p, ok := problem.As(err)
		require.True(m.t, ok, "%s wanted: %v", want, err)
		require.Equal(m.t, want, p.Code)
		if o != nil && (want == problem.NotEditable || want == problem.NotCancellable) {
			require.Equal(m.t, o.record.GetStatus().String(), "ORDER_STATUS_"+p.CurrentStatus)
		}
	} else {
		require.NoError(m.t, err)
	}
	if want == "" && answer != nil {
		require.True(m.t, proto.Equal(o.record, answer), "want %v\ngot  %v", o.record, answer)
	}
}

// check compares all that is kept of an order with the model.
func (m *world) check(o *modelOrder) {
	m.t.Helper()
	got := m.read(m.t, o.record.GetId())
	require.True(m.t, proto.Equal(o.record, got), "want %v\ngot  %v", o.record, got)
	rows, err := m.pool.Query(m.t.Context(),
		"SELECT type, origin_key_id, data FROM outbox WHERE subject_id = $1 ORDER BY id", o.record.GetId())
	require.NoError(m.t, err)
	type row struct {
		Kind   string
		Origin int32
		Data   []byte
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(m.t, err)
	require.Len(m.t, events, len(o.events))
	for i, want := range o.events {
		data, err := restjson.Marshal(want.data)
		require.NoError(m.t, err)
		require.Equal(m.t, want.kind, events[i].Kind)
		require.Equal(m.t, want.origin, events[i].Origin)
		require.True(m.t, bytes.Equal(data, events[i].Data), "event %d\nwant %s\ngot  %s", i, data, events[i].Data)
	}
}

// checkStock compares the units.
func (m *world) checkStock() {
	m.t.Helper()
	require.Equal(m.t, m.stock, m.warehouse.left())
}

// finish compares everything once more, when nothing is owed any more.
func (m *world) finish() {
	m.setDown(false)
	require.NoError(m.t, m.recovery.Settle(m.t.Context()))
	m.settle()
	m.checkStock()
	for _, o := range m.orders {
		m.check(o)
		messages, err := m.ListOrderMessages(m.key(), &ordersv1.ListOrderMessagesRequest{OrderId: o.record.GetId()})
		require.NoError(m.t, err)
		requireAll(m.t, o.messages, messages.GetMessages())
		audit := m.auditOf(m.t, o.record.GetId())
		require.Len(m.t, audit, o.audits)
		talk, err := m.ListConversation(m.t.Context(), &ordersv1.ListConversationRequest{
			Actor: operator(), TenantId: tenantID, OrderId: o.record.GetId(),
		})
		require.NoError(m.t, err)
		requireAll(m.t, o.entries, talk.GetEntries())
		file := m.file(m.t, operator(), o.record.GetId())
		require.Equal(m.t, o.erased, file.GetDetailsState() == ordersv1.DetailsState_DETAILS_STATE_ERASED)
		if !o.erased {
			require.Equal(m.t, o.name, file.GetDetails().GetRecipient().GetName())
			require.Equal(m.t, o.comment, file.GetDetails().GetCourierComment())
		}
	}
}

func requireAll[M proto.Message](t *testing.T, want, got []M) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "want %v\ngot  %v", want[i], got[i])
	}
}
