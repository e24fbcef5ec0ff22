package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// modelRun is one random sequence of calls against the service and the model.
type modelRun struct {
	*fixture
	model
	t      *testing.T
	random *rand.Rand
	// past are earlier calls of the key. A repetition must get the same answer.
	past  []pastCall
	trace []string
}

type pastCall struct {
	context context.Context
	call    func(ctx context.Context) (proto.Message, error)
	answer  proto.Message
	refusal *problem.Error
}

// newModelRun starts with a new SKU and no orders in the model.
func newModelRun(t *testing.T, f *fixture, seed uint64) *modelRun {
	f.clock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := &modelRun{fixture: f, t: t, random: rand.New(rand.NewPCG(seed, 0)), model: model{now: f.clock, stock: 2}}
	f.catalog.stock, f.catalog.holds = 2, map[string]*hold{}
	m.setApproval()
	return m
}

func (m *modelRun) say(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// chance is true once in n.
func (m *modelRun) chance(n int) bool { return m.random.IntN(n) == 0 }

func oneOf[T any](m *modelRun, of ...T) T { return of[m.random.IntN(len(of))] }

// key is the context of a new request of the API key.
func (m *modelRun) key() context.Context {
	return m.as(m.t, newID())
}

// advance moves the clock: usually by a little, sometimes not at all, backwards, or by months.
func (m *modelRun) advance() {
	switch m.random.IntN(20) {
	case 0:
	case 1:
		m.now = m.now.Add(-time.Minute)
	case 2:
		m.now = m.now.AddDate(0, 0, 100)
	default:
		m.now = m.now.Add(time.Duration(1 + m.random.IntN(1e9)))
	}
	m.clock = m.now
}

func (m *modelRun) setApproval() {
	m.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = m.approval })
}

// asKey makes a request of the key and remembers the answer that a repetition must get.
func asKey[R proto.Message](m *modelRun, call func(ctx context.Context) (R, error)) (R, error) {
	ctx := m.key()
	answer, err := call(ctx)
	p, refused := problem.As(err)
	stored := !refused || problem.Lookup(p.Code).Status == 409 || problem.Lookup(p.Code).Status == 422
	if stored && (err == nil || refused) {
		past := pastCall{context: ctx, answer: answer, refusal: p, call: func(ctx context.Context) (proto.Message, error) { return call(ctx) }}
		if err == nil {
			past.answer = proto.Clone(answer)
		}
		m.past = append(m.past, past)
	}
	return answer, err
}

// repeat makes an earlier request of the key again.
func (m *modelRun) repeat() {
	if len(m.past) == 0 {
		return
	}
	past := m.past[m.random.IntN(len(m.past))]
	m.say("repeat an earlier request")
	answer, err := past.call(past.context)
	if past.refusal == nil {
		require.NoError(m.t, err)
		require.True(m.t, proto.Equal(past.answer, answer), "%v\n%v", past.answer, answer)
		return
	}
	p, ok := problem.As(err)
	require.True(m.t, ok, "%v", err)
	require.Equal(m.t, past.refusal.Code, p.Code)
	require.Equal(m.t, past.refusal.CurrentStatus, p.CurrentStatus)
	require.Equal(m.t, past.refusal.OrderID, p.OrderID)
}

// ifMatch is the context of a request with the condition; empty for none.
func ifMatch(ctx context.Context, states ...string) context.Context {
	if len(states) == 0 {
		return ctx
	}
	r := caller.RequestFrom(ctx)
	r.IfMatch = &caller.Condition{}
	for _, state := range states {
		r.IfMatch.Tags = append(r.IfMatch.Tags, caller.NewETag(state, []byte("a body")))
	}
	return caller.WithRequest(ctx, r)
}

// condition chooses what the caller knows of the order, and whether it is still so.
func (m *modelRun) condition(o *modelOrder) (states []string, holds bool) {
	previous := proto.CloneOf(o.record)
	previous.Version--
	switch m.random.IntN(6) {
	case 0:
		return []string{caller.OrderState(previous)}, false
	case 1:
		return []string{caller.OrderState(previous), caller.OrderState(o.record)}, true
	case 2:
		return []string{caller.OrderState(o.record)}, true
	default:
		return nil, true
	}
}

// agree compares an answer of the service with that of the model.
func (m *modelRun) agree(o *modelOrder, want problem.Code, answer *ordersv1.Order, err error) {
	m.t.Helper()
	if want != "" {
		p, ok := problem.As(err)
		require.True(m.t, ok, "%s wanted: %v", want, err)
		require.Equal(m.t, want, p.Code)
		if o != nil && (want == problem.NotEditable || want == problem.NotCancellable || want == problem.PreconditionFailed) {
			require.Equal(m.t, enumname.String(o.record.GetStatus()), p.CurrentStatus)
		}
	} else {
		require.NoError(m.t, err)
	}
	if want == "" && answer != nil {
		require.True(m.t, proto.Equal(o.record, answer), "want %v\ngot  %v", o.record, answer)
	}
}

// check compares the stored order and its events with the model.
func (m *modelRun) check(o *modelOrder) {
	m.t.Helper()
	got := m.read(m.t, o.record.GetId())
	require.True(m.t, proto.Equal(o.record, got), "want %v\ngot  %v", o.record, got)
	rows, err := m.pool.Query(m.t.Context(),
		"SELECT type, origin_key_id, data, tenant_id::text, event_id::text FROM outbox WHERE subject_id = $1 ORDER BY id", o.record.GetId())
	require.NoError(m.t, err)
	type row struct {
		Kind   string
		Origin int32
		Data   []byte
		seal.EventPlace
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(m.t, err)
	require.Len(m.t, events, len(o.events))
	for i, want := range o.events {
		data, err := restjson.Marshal(want.data)
		require.NoError(m.t, err)
		require.Equal(m.t, want.kind, events[i].Kind, "the model in model_test.go names another event")
		require.Equal(m.t, want.origin, events[i].Origin)
		got := opened(m.t, events[i].EventPlace, events[i].Data)
		require.True(m.t, bytes.Equal(data, got), "event %d\nwant %s\ngot  %s", i, data, got)
	}
}

// checkStock compares the units.
func (m *modelRun) checkStock() {
	m.t.Helper()
	require.Equal(m.t, m.stock, m.catalog.left())
}

// finish compares everything once more after all stock has been returned.
func (m *modelRun) finish() {
	m.setDown(false)
	require.NoError(m.t, m.reservations.Reconcile(m.t.Context()))
	m.returnOwed()
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

// The length and the seed of a comparison with the model. The same seed repeats the same run.
const (
	sequencesVariable = "GIFTING_TEST_MODEL_SEQUENCES"
	seedVariable      = "GIFTING_TEST_MODEL_SEED"

	defaultSequences = 60
	stepsPerSequence = 25
)

func fromEnvironment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return value
}

// TestOrdersAgreeWithTheModel makes random sequences of calls on both planes and compares states,
// versions, events, stock and answers with the specification's model after every step.
func TestOrdersAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	sequences := fromEnvironment(t, sequencesVariable, defaultSequences)
	seed := fromEnvironment(t, seedVariable, rand.Uint64())
	t.Logf("%s=%d", seedVariable, seed)
	f := setupWithApproval(t)
	for n := range sequences {
		run := newModelRun(t, f, seed+n)
		if !t.Run(fmt.Sprint(seed+n), run.sequence) {
			return
		}
	}
}

func (m *modelRun) sequence(t *testing.T) {
	m.t = t
	defer func() {
		if t.Failed() {
			t.Logf("repeat it with %s=%s and %s=1, after:\n%s", seedVariable, t.Name()[strings.LastIndexByte(t.Name(), '/')+1:],
				sequencesVariable, strings.Join(m.trace, "\n"))
		}
	}()
	for range stepsPerSequence {
		m.step()
	}
	m.finish()
}
