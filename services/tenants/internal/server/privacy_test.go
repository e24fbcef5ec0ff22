package server_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const player = "marked-player-1"

func backoffice() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-1"}
}

// person gives a tenant a person with a claimed link, its order, and another order.
func (f *fixture) person(tenant string) (link, claimed, other *record) {
	linkID, orderID := newID(), newID()
	link = f.links.add(record{tenant: tenant, id: linkID, other: orderID, recipient: player})
	claimed = f.orders.add(record{tenant: tenant, id: orderID, other: linkID, recipient: player})
	other = f.orders.add(record{tenant: tenant, id: newID(), recipient: player})
	return link, claimed, other
}

func eraseRecipient(tenant string) *tenantsv1.ErasePersonRequest {
	return &tenantsv1.ErasePersonRequest{
		Actor: backoffice(), TenantId: tenant, RequestId: newID(),
		Subject: &tenantsv1.ErasePersonRequest_ExternalRecipientId{ExternalRecipientId: player},
	}
}

func eraseOrder(tenant, id string) *tenantsv1.ErasePersonRequest {
	return &tenantsv1.ErasePersonRequest{
		Actor: backoffice(), TenantId: tenant, RequestId: newID(), Subject: &tenantsv1.ErasePersonRequest_OrderId{OrderId: id},
	}
}

func (f *fixture) erase(req *tenantsv1.ErasePersonRequest) *tenantsv1.Erasure {
	f.t.Helper()
	return call(f.t, f.privacy.ErasePerson, req).GetErasure()
}

const (
	pending   = tenantsv1.ErasureState_ERASURE_STATE_PENDING
	completed = tenantsv1.ErasureState_ERASURE_STATE_COMPLETED
)

func (f *fixture) requireErasure(e *tenantsv1.Erasure, states ...tenantsv1.ErasureState) {
	f.t.Helper()
	reported := []tenantsv1.ErasureState{e.GetState(), e.GetParts()[0].GetState(), e.GetParts()[1].GetState()}
	require.Equal(f.t, states, reported)
	require.Equal(f.t, []string{"personal-links", "orders"}, []string{e.GetParts()[0].GetService(), e.GetParts()[1].GetService()})
	require.Equal(f.t, e.GetState() == completed, e.GetCompletedAt() != nil)
}

func TestAPersonIsErasedInEveryService(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, elsewhere := f.tenant(), f.tenant()
	link, claimed, other := f.person(tenant)
	otherLink, otherClaimed, otherOther := f.person(elsewhere)
	otherClaimed.inFlight = true
	req := eraseRecipient(tenant)
	erasure := f.erase(req)
	f.requireErasure(erasure, completed, completed, completed)
	require.Equal(t, []string{link.id}, erasure.GetParts()[0].GetRecordIds())
	require.ElementsMatch(t, []string{claimed.id, other.id}, erasure.GetParts()[1].GetRecordIds())
	for _, r := range []*record{link, claimed, other} {
		require.True(t, r.erased)
	}
	for _, r := range []*record{otherLink, otherClaimed, otherOther} {
		require.False(t, r.erased, "another tenant's")
	}
	t.Run("a repetition returns the same report", func(t *testing.T) {
		again := f.erase(req)
		require.Equal(t, erasure.String(), again.String())
		require.Equal(t, 2, f.orders.erasures)
	})
	t.Run("the request is not that of another person", func(t *testing.T) {
		reused := eraseOrder(tenant, other.id)
		reused.RequestId = req.GetRequestId()
		requireRefused(t, problem.IdempotencyKeyReused, f.privacy.ErasePerson, reused)
	})
	t.Run("the person is not in the audit", func(t *testing.T) {
		row := pgtest.Value[string](t, f.pool, "SELECT to_jsonb(r)::text FROM person_requests r")
		require.NotContains(t, row, player)
		require.Contains(t, row, "staff-1")
	})
}

func TestAnOrderIncludesItsLinkAndALinkItsOrder(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]func(tenant string, link, order *record) *tenantsv1.ErasePersonRequest{
		"order": func(tenant string, _, order *record) *tenantsv1.ErasePersonRequest {
			return eraseOrder(tenant, order.id)
		},
		"link": func(tenant string, link, _ *record) *tenantsv1.ErasePersonRequest {
			return &tenantsv1.ErasePersonRequest{
				Actor: backoffice(), TenantId: tenant, RequestId: newID(),
				Subject: &tenantsv1.ErasePersonRequest_PersonalLinkId{PersonalLinkId: link.id},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			tenant := f.tenant()
			link, claimed, other := f.person(tenant)
			f.requireErasure(f.erase(subject(tenant, link, claimed)), completed, completed, completed)
			require.True(t, link.erased && claimed.erased)
			require.False(t, other.erased, "it only has the same recipient")
		})
	}
}

func TestAnOrderInFlightRefusesTheErasure(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link, claimed, _ := f.person(tenant)
	claimed.inFlight = true
	_, err := f.privacy.ErasePerson(t.Context(), eraseRecipient(tenant))
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.NotEditable, p.Code)
	require.Equal(t, claimed.id, p.OrderID)
	require.Contains(t, p.Detail, claimed.id)
	require.False(t, link.erased)
	require.Zero(t, pgtest.Value[int](t, f.pool, "SELECT count(*) FROM person_requests"))
}

// TestAnErasureSurvivesACrashAfterEveryStep stops an erasure at each step. The worker, or a repetition, completes it.
func TestAnErasureSurvivesACrashAfterEveryStep(t *testing.T) {
	t.Parallel()
	down := problem.Unavailable()
	for name, stop := range map[string]struct {
		at      func(f *fixture)
		resumed func(f *fixture)
		states  []tenantsv1.ErasureState
	}{
		"before the links": {
			func(f *fixture) { f.links.failBefore = down }, func(f *fixture) { f.links.failBefore = nil },
			[]tenantsv1.ErasureState{pending, pending, pending},
		},
		"after the links": {
			func(f *fixture) { f.links.failAfter = down }, func(f *fixture) { f.links.failAfter = nil },
			[]tenantsv1.ErasureState{pending, pending, pending},
		},
		"before the orders": {
			func(f *fixture) { f.orders.failBefore = down }, func(f *fixture) { f.orders.failBefore = nil },
			[]tenantsv1.ErasureState{pending, completed, pending},
		},
		"after the orders": {
			func(f *fixture) { f.orders.failAfter = down }, func(f *fixture) { f.orders.failAfter = nil },
			[]tenantsv1.ErasureState{pending, completed, pending},
		},
		"before the events": {
			func(f *fixture) { f.eventService.fail = down }, func(f *fixture) { f.eventService.fail = nil },
			[]tenantsv1.ErasureState{pending, completed, completed},
		},
	} {
		for _, resume := range []string{"by the worker", "by a repetition"} {
			t.Run(name+" "+resume, func(t *testing.T) {
				f := setup(t)
				tenant := f.tenant()
				link, claimed, other := f.person(tenant)
				stop.at(f)
				req := eraseRecipient(tenant)
				f.requireErasure(f.erase(req), stop.states...)
				require.NoError(t, f.coordinator.ContinuePending(t.Context()), "it is not due yet")
				stop.resumed(f)
				if resume == "by the worker" {
					f.makeDue()
					require.NoError(t, f.coordinator.ContinuePending(t.Context()))
				}
				f.requireErasure(f.erase(req), completed, completed, completed)
				require.True(t, link.erased && claimed.erased && other.erased)
				require.Equal(t, []int{1, 2}, []int{f.links.erasures, f.orders.erasures})
				require.Equal(t, player, f.links.recipient, "stored answers have it too")
				require.Zero(t, pgtest.Value[int](t, f.pool, "SELECT count(recipient_sealed) FROM person_requests"))
			})
		}
	}
}

// The old cell of a tenant that has moved is empty, so its answers say nothing about a person.
func TestNoCellIsTrustedThatTheTenantHasLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     func(f *fixture, move func())
		states []tenantsv1.ErasureState
	}{
		"links":  {func(f *fixture, move func()) { f.links.during = move }, []tenantsv1.ErasureState{pending, pending, pending}},
		"orders": {func(f *fixture, move func()) { f.orders.during = move }, []tenantsv1.ErasureState{pending, completed, pending}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			tenant := f.tenant()
			link, claimed, other := f.person(tenant)
			c.at(f, func() { pgtest.Exec(t, f.pool, `UPDATE tenants SET cell = 'b'`) })
			req := eraseRecipient(tenant)
			f.requireErasure(f.erase(req), c.states...)
			f.makeDue()
			require.NoError(t, f.coordinator.ContinuePending(t.Context()))
			f.requireErasure(f.erase(req), completed, completed, completed)
			require.True(t, link.erased && claimed.erased && other.erased)
		})
	}
	f := setup(t)
	tenant := f.tenant()
	f.person(tenant)
	f.orders.reading = func() { pgtest.Exec(t, f.pool, `UPDATE tenants SET cell = 'b'`) }
	requireRefused(t, problem.ServiceUnavailable, f.privacy.ErasePerson, eraseRecipient(tenant))
}

// An event that is stored after the others were erased would have what was erased.
func TestEventsAreErasedOnceAllAreStored(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link, claimed, other := f.person(tenant)
	f.links.during = func() { f.links.locked(func() { f.links.unpublished = 2 }) }
	f.orders.during = func() { f.orders.locked(func() { f.orders.unpublished = 3 }) }
	f.eventService.sending = 2
	f.eventService.on = func() {
		for _, records := range []*records{f.links, f.orders} {
			records.locked(func() { assert.Zero(t, records.unpublished) })
		}
	}
	erasure := f.erase(eraseRecipient(tenant))
	f.requireErasure(erasure, completed, completed, completed)
	require.Subset(t, f.eventService.erased, []string{link.id, claimed.id, other.id})
	require.Equal(t, -1, f.eventService.sending, "until nothing is being sent")
	var parts []string
	for _, part := range erasure.GetParts() {
		require.Equal(t, completed, part.GetState())
		parts = append(parts, part.GetService())
	}
	require.Equal(t, []string{"personal-links", "orders", "events", "webhook"}, parts)
	for i, left := range []struct {
		place string
		days  int
	}{{"backups", 35}, {"kafka", 7}} {
		got := erasure.GetRemainders()[i]
		require.Equal(t, left.place, got.GetPlace())
		require.WithinDuration(t, erasure.GetCompletedAt().AsTime().AddDate(0, 0, left.days), got.GetGoneAfter().AsTime(), 2*time.Second)
	}
}

func (f *fixture) makeDue() {
	f.t.Helper()
	pgtest.Exec(f.t, f.pool, "UPDATE person_requests SET next_attempt_at = now() WHERE completed_at IS NULL")
}

// nextAttempt is in how long the last pending erasure is due.
func (f *fixture) nextAttempt() (in time.Duration) {
	f.t.Helper()
	query := "SELECT max(next_attempt_at) - now() FROM person_requests WHERE completed_at IS NULL"
	require.NoError(f.t, f.pool.QueryRow(f.t.Context(), query).Scan(&in))
	return in
}

// TestAClaimDuringTheErasureIsErasedOnceItsOrderIsDelivered: a player claims an open link after its owner's request was recorded.
func TestAClaimDuringTheErasureIsErasedOnceItsOrderIsDelivered(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link := f.links.add(record{tenant: tenant, id: newID(), recipient: player})
	var order *record
	f.links.during = func() {
		order = f.orders.add(record{tenant: tenant, id: newID(), other: link.id, recipient: player, inFlight: true})
		f.links.locked(func() { link.other = order.id })
	}
	req := eraseRecipient(tenant)
	erasure := f.erase(req)
	f.requireErasure(erasure, pending, completed, pending)
	require.Equal(t, []string{order.id}, erasure.GetParts()[1].GetRecordIds())
	f.makeDue()
	require.NoError(t, f.coordinator.ContinuePending(t.Context()), "to wait is no failure")
	require.False(t, order.erased)
	oldest, err := store.New(f.pool).OldestPendingErasure(t.Context())
	require.NoError(t, err)
	require.Positive(t, oldest)

	f.orders.locked(func() { order.inFlight = false })
	f.makeDue()
	require.NoError(t, f.coordinator.ContinuePending(t.Context()))
	f.requireErasure(f.erase(req), completed, completed, completed)
	require.True(t, order.erased)
	oldest, err = store.New(f.pool).OldestPendingErasure(t.Context())
	require.NoError(t, err)
	require.Zero(t, oldest)
}

func TestClaimsDuringTheErasureMayMakeMoreOrdersThanACallMayName(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link := f.links.add(record{tenant: tenant, id: newID(), recipient: player})
	for range 2000 {
		f.orders.add(record{tenant: tenant, id: newID(), recipient: player})
	}
	f.links.during = func() {
		order := f.orders.add(record{tenant: tenant, id: newID(), other: link.id, recipient: player})
		f.links.locked(func() { link.other = order.id })
	}
	f.requireErasure(f.erase(eraseRecipient(tenant)), completed, completed, completed)
	require.Equal(t, 2001, f.orders.erasures)
}

// The clock of the database was a month ahead when the person's request was recorded.
func TestAnErasureOfAClockThatWasAheadIsContinuedAndReported(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link := f.links.add(record{tenant: tenant, id: newID(), recipient: player})
	f.links.failBefore = problem.Unavailable()
	pgtest.Exec(t, f.pool, "ALTER TABLE person_requests ALTER requested_at SET DEFAULT now() + interval '30 days'")
	f.requireErasure(f.erase(eraseRecipient(tenant)), pending, pending, pending)
	oldest, err := store.New(f.pool).OldestPendingErasure(t.Context())
	require.NoError(t, err)
	require.Greater(t, oldest, 29*24*time.Hour, "GiftingErasurePending fires")

	f.links.failBefore = nil
	pgtest.Exec(t, f.pool, "UPDATE person_requests SET next_attempt_at = now() + interval '30 days'")
	require.NoError(t, f.coordinator.ContinuePending(t.Context()))
	require.True(t, link.erased)
}

func TestOneFailingErasureDoesNotBlockTheOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link := f.links.add(record{tenant: tenant, id: newID(), recipient: player})
	f.links.failBefore = problem.Unavailable()
	other := f.orders.add(record{tenant: tenant, id: newID()})
	stuck, fine := eraseRecipient(tenant), eraseOrder(tenant, other.id)
	f.erase(stuck)
	f.erase(fine)
	f.links.failBefore = nil
	f.links.locked(func() { link.inFlight = true }) // The fake refuses it.
	f.makeDue()
	var lease time.Duration
	f.links.during = func() { lease = f.nextAttempt() }
	require.NoError(t, f.coordinator.ContinuePending(t.Context()))
	require.Greater(t, lease, 15*time.Minute, "while an attempt reads all that a large tenant has, no other instance tries")
	require.LessOrEqual(t, f.nextAttempt(), time.Minute)
	f.requireErasure(f.erase(fine), completed, completed, completed)
	f.requireErasure(f.erase(stuck), pending, pending, pending)
}

func TestConcurrentRequestsForOnePersonAreAllCompleted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	f.person(tenant)
	same := eraseRecipient(tenant)
	var g errgroup.Group
	for i := range 6 {
		req := same
		if i%2 == 0 {
			req = eraseRecipient(tenant)
		}
		g.Go(func() error {
			_, err := f.privacy.ErasePerson(t.Context(), req)
			return err
		})
		g.Go(func() error { return f.coordinator.ContinuePending(t.Context()) })
	}
	require.NoError(t, g.Wait())
	f.requireErasure(f.erase(same), completed, completed, completed)
	require.Equal(t, []int{1, 2}, []int{f.links.erasures, f.orders.erasures})
}

func TestAnExportIsOneDocumentAndAudited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	link, claimed, other := f.person(tenant)
	f.person(f.tenant())
	claimed.inFlight = true
	resp := call(t, f.privacy.ExportPerson, &tenantsv1.ExportPersonRequest{
		Actor: backoffice(), TenantId: tenant, Subject: &tenantsv1.ExportPersonRequest_OrderId{OrderId: claimed.id},
	})
	var document struct {
		TenantID              string `json:"tenantId"`
		ExportedAt            time.Time
		Orders, PersonalLinks []string
	}
	require.NoError(t, json.Unmarshal(resp.GetDocument(), &document))
	require.Equal(t, tenant, document.TenantID)
	require.False(t, document.ExportedAt.IsZero())
	require.Equal(t, []string{claimed.id}, document.Orders)
	require.Equal(t, []string{link.id}, document.PersonalLinks)
	require.NotContains(t, document.Orders, other.id)
	audited := pgtest.Value[int](t, f.pool, `SELECT count(*) FROM person_requests
WHERE action = 'EXPORT' AND actor_id = 'staff-1' AND completed_at IS NOT NULL`)
	require.Equal(t, 1, audited)
}

func TestWhoLosesThePermissionMeanwhileGetsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remove func(f *fixture, remove func())
		export bool
		// recorded is how many requests are in the audit.
		recorded int
	}{
		"an erasure while the records are found": {func(f *fixture, remove func()) { f.orders.reading = remove }, false, 0},
		"an export while the records are found":  {func(f *fixture, remove func()) { f.orders.reading = remove }, true, 0},
		"an export while the records are read":   {func(f *fixture, remove func()) { f.orders.during = remove }, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			tenant := f.tenant()
			link, claimed, _ := f.person(tenant)
			by := f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true)
			c.remove(f, func() {
				call(t, f.ops.PutTeamMember, &tenantsv1.PutTeamMemberRequest{Actor: staff, TenantId: tenant, Member: &tenantsv1.TeamMember{
					Id: by.GetId(), Name: "n", Email: "n@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR,
				}})
			})
			if c.export {
				requireRefused(t, problem.NotFound, f.privacy.ExportPerson, &tenantsv1.ExportPersonRequest{
					Actor: by, TenantId: tenant, Subject: &tenantsv1.ExportPersonRequest_ExternalRecipientId{ExternalRecipientId: player},
				})
			} else {
				req := eraseRecipient(tenant)
				req.Actor = by
				requireRefused(t, problem.NotFound, f.privacy.ErasePerson, req)
			}
			require.False(t, link.erased || claimed.erased)
			recorded := pgtest.Value[int](t, f.pool, "SELECT count(*) FROM person_requests WHERE tenant_id = $1", tenant)
			require.Equal(t, c.recorded, recorded)
		})
	}
}

func TestRequestsForPersonsAreChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	invalid(t, f.privacy.ErasePerson, &tenantsv1.ErasePersonRequest{},
		"actor required", "tenantId required", "requestId required", "subject required")
	invalid(t, f.privacy.ExportPerson, &tenantsv1.ExportPersonRequest{
		Actor: backoffice(), TenantId: tenant, Subject: &tenantsv1.ExportPersonRequest_PersonalLinkId{PersonalLinkId: "x"},
	}, "personalLinkId invalid")
	requireRefused(t, problem.NotFound, f.privacy.ErasePerson, eraseOrder(tenant, newID()))
	requireRefused(t, problem.NotFound, f.privacy.ErasePerson, eraseRecipient(newID()))
	_, claimed, _ := f.person(f.tenant())
	requireRefused(t, problem.NotFound, f.privacy.ErasePerson, eraseOrder(tenant, claimed.id))
	f.requireErasure(f.erase(eraseRecipient(tenant)), completed, completed, completed) // Nothing is stored about the person.
	for range 2001 {
		f.orders.add(record{tenant: tenant, id: newID(), recipient: player})
	}
	requireRefused(t, problem.PayloadTooLarge, f.privacy.ErasePerson, eraseRecipient(tenant))
}

func TestRequestsForPersonsAreKeptForAYear(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	f.person(tenant)
	f.erase(eraseRecipient(tenant))
	f.links.failBefore = problem.Unavailable()
	f.erase(eraseRecipient(tenant)) // Pending.
	pgtest.Exec(t, f.pool, `ALTER TABLE person_requests DISABLE TRIGGER USER;
UPDATE person_requests SET requested_at = now() - interval '2 years', completed_at = completed_at - interval '366 days';
ALTER TABLE person_requests ENABLE TRIGGER USER`)
	recent := eraseRecipient(tenant)
	f.links.failBefore = nil
	f.erase(recent)
	for _, sql := range []string{
		"DELETE FROM person_requests WHERE id = '" + recent.GetRequestId() + "'", "TRUNCATE person_requests",
		"UPDATE person_requests SET actor_id = 'somebody else' WHERE completed_at IS NOT NULL",
		"UPDATE person_requests SET actor_id = 'somebody else' WHERE completed_at IS NULL",
		"UPDATE person_requests SET link_ids = ARRAY[gen_random_uuid()] WHERE completed_at IS NULL",
		"DELETE FROM person_requests WHERE completed_at IS NULL",
	} {
		_, err := f.pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	s := store.New(f.pool)
	deleted, err := s.Delete(t.Context(), store.OldPersonRequests, 365*24*time.Hour, 10)
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
}
