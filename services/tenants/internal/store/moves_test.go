package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// cellB is a second cell with room.
func cellB(room int32, open bool) *tenantsv1.CellRecord {
	return &tenantsv1.CellRecord{
		Cell: &tenantsv1.Cell{
			Letter: "b", CatalogAddr: "c:1", OrdersAddr: "o:1", PersonalLinksAddr: "l:1", EventsAddr: "e:1", WebhookAddr: "w:1",
		},
		Open: open, Room: room,
	}
}

// tenantIn makes a tenant that wants the cell, and returns where it begins.
func tenantIn(t *testing.T, s *store.Store, wanted string) (string, error) {
	t.Helper()
	id := uuid.NewString()
	_, _, err := s.PutTenant(t.Context(), operator,
		&tenantsv1.Tenant{Id: id, Name: "n", Locales: []string{"en-US"}, Currency: "EUR"}, true, wanted)
	if err != nil {
		return "", err
	}
	return s.CellOf(t.Context(), id)
}

func TestATenantBeginsInACellWithRoom(t *testing.T) {
	t.Parallel()
	s, _, first := setup(t)
	others, err := s.OtherCells(t.Context())
	require.NoError(t, err)
	require.Empty(t, others, "one cell is the default")
	require.NoError(t, s.PutCell(t.Context(), cellB(2, true)))
	for i, tc := range []struct{ wanted, cell string }{
		{"", "b"},  // It has the fewest tenants.
		{"", "a"},  // Both have one.
		{"b", "b"}, // Its last room.
		{"", "a"},
	} {
		cell, err := tenantIn(t, s, tc.wanted)
		require.NoError(t, err)
		require.Equal(t, tc.cell, cell, i)
	}
	for _, wanted := range []string{"b", "c"} {
		_, err = tenantIn(t, s, wanted)
		require.ErrorIs(t, err, store.ErrNoCell, "full, and unknown")
	}
	_, _, err = s.PutTenant(t.Context(), operator,
		&tenantsv1.Tenant{Id: first, Name: "other", Locales: []string{"en-US"}, Currency: "EUR"}, true, "b")
	require.NoError(t, err)
	settings, err := s.Settings(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "a", settings.GetCell(), "to put a tenant does not move it")

	require.NoError(t, s.PutCell(t.Context(), cellB(0, false)))
	cell, err := tenantIn(t, s, "")
	require.NoError(t, err)
	require.Equal(t, "a", cell, "the other one is closed")
	all, err := s.Cells(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.EqualValues(t, 4, all[0].GetTenants())
	require.EqualValues(t, 2, all[1].GetTenants())
	require.Equal(t, "o:1", all[1].GetCell().GetOrdersAddr())
}

// keyOf makes a key with a webhook and returns its id and hash.
func keyOf(t *testing.T, s *store.Store, tenant string) (id int32, hash []byte) {
	t.Helper()
	raw := uuid.New()
	hash = append(raw[:], raw[:]...)
	k, _, err := s.CreateKey(t.Context(), tenant, operator, store.Key{
		Grants: rules.Grants{Name: "k", AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}}, Prefix: "p",
		WebhookURL: new("https://example.com/"),
	}, store.Secrets{Hash: hash, Seal: func(int32) []byte { return []byte("sealed") }})
	require.NoError(t, err)
	return k.ID, hash
}

func TestWhatOthersSeeOfAMove(t *testing.T) {
	t.Parallel()
	s, _, tenant := setup(t)
	require.NoError(t, s.PutCell(t.Context(), cellB(0, true)))
	keyID, hash := keyOf(t, s, tenant)
	requireSeen := func(cell string, moving, toA, toB bool) {
		t.Helper()
		p, err := s.Resolve(t.Context(), hash)
		require.NoError(t, err)
		require.Equal(t, cell, p.Cell)
		require.Equal(t, moving, p.Moving)
		for letter, sends := range map[string]bool{"a": toA, "b": toB} {
			found, err := s.Endpoints(t.Context(), []int32{keyID}, letter)
			require.NoError(t, err)
			require.Equal(t, sends, !found[0].Elsewhere, "cell %s sends webhooks", letter)
			versions, subscribed, err := s.Subscriptions(t.Context(), []string{tenant}, letter)
			require.NoError(t, err)
			require.Contains(t, versions, tenant)
			require.Len(t, subscribed, map[bool]int{true: 1}[letter == cell], "the other cell stores no deliveries")
		}
	}
	step := func(m *store.Move, next tenantsv1.MoveStep) {
		t.Helper()
		before, err := s.Version(t.Context(), tenant)
		require.NoError(t, err)
		version, err := s.StepMove(t.Context(), m, next)
		require.NoError(t, err)
		require.Greater(t, version, before, "edges ask again")
	}
	requireSeen("a", false, true, false)
	m, err := s.BeginMove(t.Context(), tenant, "b", operator, false)
	require.NoError(t, err)
	require.Equal(t, []int32{keyID}, m.KeyIDs)
	requireSeen("a", false, true, false)
	_, err = s.Offboard(t.Context(), tenant, operator.Actor, time.Hour)
	require.ErrorIs(t, err, store.ErrMoving)
	_, err = s.BeginMove(t.Context(), tenant, "b", operator, false)
	require.ErrorIs(t, err, store.ErrMoving)

	due, err := s.DueMoves(t.Context())
	require.NoError(t, err)
	m = due[0]
	secondID, _ := keyOf(t, s, tenant)
	require.NoError(t, s.MoveKeys(t.Context(), &m))
	require.Equal(t, []int32{keyID, secondID}, m.KeyIDs)
	require.Equal(t, []int32{secondID}, m.Late, "its earlier rows are not in the copy")
	_, err = s.RevokeKey(t.Context(), store.KeyRef{TenantID: tenant, ID: secondID}, operator, time.Now())
	require.NoError(t, err, "a key can always be revoked")
	early := m
	step(&m, store.Pausing)
	requireSeen("a", true, false, false)
	_, _, err = s.CreateKey(t.Context(), tenant, operator, store.Key{}, store.Secrets{})
	require.ErrorIs(t, err, store.ErrMoving)
	step(&m, store.Switching)
	requireSeen("a", true, false, false)

	early.Step = store.Switching // A worker was here before, and the move went back meanwhile.
	_, err = s.SwitchCell(t.Context(), &early, store.Size{}, time.Second)
	require.ErrorIs(t, err, store.ErrMoved)
	requireSeen("a", true, false, false)
	_, err = s.SwitchCell(t.Context(), &m, store.Size{Rows: 7, Bytes: 560}, 1500*time.Millisecond)
	require.NoError(t, err)
	requireSeen("b", true, false, false)
	_, err = s.CancelMove(t.Context(), tenant, operator)
	require.ErrorIs(t, err, store.ErrMoved)
	shown, err := s.Move(t.Context(), tenant)
	require.NoError(t, err)
	require.EqualValues(t, 7, shown.GetRows())
	require.EqualValues(t, 560, shown.GetBytes())
	require.EqualValues(t, 1500, shown.GetPauseMs())
	require.Equal(t, "staff-7", shown.GetRequestedBy().GetId())
	step(&m, store.MoveErase)
	requireSeen("b", false, false, true)
	step(&m, store.MoveDone)
	back, err := s.BeginMove(t.Context(), tenant, "a", operator, true)
	require.NoError(t, err)
	require.Equal(t, "b", back.From)
	audit, err := s.TenantAudit(t.Context(), tenant, operator, nil, 50)
	require.NoError(t, err)
	steps := 0
	for _, entry := range audit {
		if entry.GetAction() == tenantsv1.TenantAction_TENANT_ACTION_MOVE {
			steps++
		}
	}
	require.Equal(t, 6, steps)
}

func TestAMoveIsCancelledBeforeItsSwitchOnly(t *testing.T) {
	t.Parallel()
	s, _, tenant := setup(t)
	require.NoError(t, s.PutCell(t.Context(), cellB(0, true)))
	_, err := s.CancelMove(t.Context(), tenant, operator)
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = s.BeginMove(t.Context(), tenant, "a", operator, false)
	require.ErrorIs(t, err, store.ErrSameCell)
	_, err = s.BeginMove(t.Context(), tenant, "b", operator, false)
	require.NoError(t, err)
	before, err := s.DueMoves(t.Context())
	require.NoError(t, err)
	for range 2 { // A repeated call changes nothing.
		_, err = s.CancelMove(t.Context(), tenant, operator)
		require.NoError(t, err)
	}
	_, err = s.StepMove(t.Context(), &before[0], store.Pausing)
	require.ErrorIs(t, err, store.ErrMoved, "the worker goes on with an older state")
	after, err := s.DueMoves(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Undoing, after[0].Step)
	_, err = s.StepMove(t.Context(), &after[0], store.Cancelled)
	require.NoError(t, err)
	_, err = s.BeginMove(t.Context(), tenant, "b", operator, false)
	require.NoError(t, err, "a later move")
}

func TestAMoveIsDueUntilItHasEnded(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	require.NoError(t, s.PutCell(t.Context(), cellB(0, true)))
	_, err := s.BeginMove(t.Context(), tenant, "b", operator, false)
	require.NoError(t, err)
	requireDue := func(number int) {
		t.Helper()
		due, err := s.DueMoves(t.Context())
		require.NoError(t, err)
		require.Len(t, due, number)
	}
	requireDue(1)
	require.NoError(t, s.NoteMove(t.Context(), tenant, store.Progress{LagBytes: 12, Tables: 40, Copied: 31}, "no disk", time.Hour))
	requireDue(0)
	shown, err := s.Move(t.Context(), tenant)
	require.NoError(t, err)
	require.EqualValues(t, 31, shown.GetTablesCopied())
	require.Equal(t, "no disk", shown.GetProblem())
	age, err := s.OldestMove(t.Context())
	require.NoError(t, err)
	require.Positive(t, age)
	pgtest.Exec(t, pool, `UPDATE tenant_moves SET next_attempt_at = now(), step = 'DONE'`)
	requireDue(0)
	age, err = s.OldestMove(t.Context())
	require.NoError(t, err)
	require.Zero(t, age)
}
