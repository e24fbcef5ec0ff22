package server_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/autoclaim"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// auto makes links whose recipients have the ids.
func (f *fixture) auto(t *testing.T, ids ...string) (links []*linksv1.PersonalLink) {
	t.Helper()
	var recipients []*linksv1.PersonalLinkRecipient
	for _, id := range ids {
		recipients = append(recipients, &linksv1.PersonalLinkRecipient{Label: "Marked Ann", ExternalRecipientId: new(id)})
	}
	for _, r := range f.create(t, f.toCampaign(recipients...)) {
		require.NotNil(t, r.GetLink(), "%v", r)
		links = append(links, r.GetLink())
	}
	return links
}

// worker makes the steps of one instance.
func (f *fixture) worker(saga *claims.Saga, wake func()) *autoclaim.Worker {
	return &autoclaim.Worker{
		Store: f.store, Claims: f.newServer(saga), Clock: time.Now, Log: slog.New(slog.NewTextHandler(f.logged, nil)), Wake: wake,
	}
}

// due makes every step due and runs them.
func (f *fixture) due(t *testing.T, w *autoclaim.Worker) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), "UPDATE sandbox_claims SET due_at = now() - interval '1 second'")
	require.NoError(t, err)
	_, _, err = w.Run(t.Context())
	require.NoError(t, err)
}

func (f *fixture) statuses(t *testing.T, links []*linksv1.PersonalLink) (all []linksv1.PersonalLinkStatus) {
	t.Helper()
	for _, l := range links {
		all = append(all, f.read(t, l).GetStatus())
	}
	return all
}

func TestALinkIsClaimedByItself(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	var woken atomic.Int32
	w := f.worker(f.saga(f.store, f.orders), func() { woken.Add(1) })
	links := f.auto(t, "sandbox:auto=10s", "sandbox:auto,stop=ACTIVE", "sandbox:auto,stop=CLAIMED 7", "player")
	require.EqualValues(t, 1, f.woken.Load(), "the batch wakes the loop")
	next, found, err := w.Run(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Greater(t, next, time.Second)
	require.LessOrEqual(t, next, 2*time.Second, "the default pace")
	require.Zero(t, woken.Load())
	require.Equal(t, 3, f.count(t, "sandbox_claims"))

	f.due(t, w)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Claimed, rules.Active, rules.Claimed, rules.Active}, f.statuses(t, links))
	require.Zero(t, f.count(t, "sandbox_claims"))
	require.Positive(t, woken.Load())
	_, found, err = w.Run(t.Context())
	require.NoError(t, err)
	require.False(t, found)
	placed := f.orders.Placed()[f.read(t, links[0]).GetOrderId()]
	require.Equal(t, "Sandbox Recipient", placed.GetRecipient().GetName())
	require.Equal(t, mugID, placed.GetProductId())
	require.Equal(t, "sandbox:auto=10s", placed.GetExternalRecipientId())
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, links[0].GetId()))
}

func TestALinkThatWaitsIsApprovedFirst(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	w := f.worker(f.saga(f.store, f.orders), func() {})
	links := f.auto(t, "sandbox:auto=60s", "sandbox:auto=60s,stop=ACTIVE")
	f.due(t, w)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Active, rules.Active}, f.statuses(t, links))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, f.kinds(t, links[0].GetId()))
	require.Equal(t, 2, f.count(t, "link_audit WHERE actor_kind = 'SYSTEM' AND actor_id = 'Sandbox'"))
	next, found, err := w.Run(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Greater(t, next, 50*time.Second, "one step per pace")
	f.due(t, w)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Claimed, rules.Active}, f.statuses(t, links))
	require.Zero(t, f.count(t, "sandbox_claims"))
}

func TestALinkThatEndsOtherwiseIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	w := f.worker(f.saga(f.store, f.orders), func() {})
	links := f.auto(t, "sandbox:auto", "sandbox:auto", "sandbox:auto")
	f.cancel(t, newID(), links[0])
	f.claim(t, claimOf(links[1]))
	_, err := f.pool.Exec(t.Context(), "DELETE FROM links WHERE id = $1", links[2].GetId())
	require.NoError(t, err)
	f.due(t, w)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Cancelled, rules.Claimed}, f.statuses(t, links[:2]))
	require.Zero(t, f.count(t, "sandbox_claims"))
	require.Len(t, f.orders.Placed(), 1)
}

func TestARefusedClaimIsNotRepeatedByItself(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	w := f.worker(f.saga(f.store, f.orders), func() {})
	link := f.auto(t, "sandbox:auto")[0]
	f.orders.Refuse(problem.Unavailable())
	f.due(t, w)
	require.Equal(t, 1, f.count(t, "sandbox_claims WHERE due_at > now()"), "a failure is tried again later")
	require.NotContains(t, f.logged.String(), "Marked")
	f.orders.Refuse(problem.New(problem.OutOfStock, "none left"))
	f.due(t, w)
	require.Zero(t, f.count(t, "sandbox_claims"))
	require.Equal(t, rules.Active, f.read(t, link).GetStatus())
}

func TestADirectiveMeansNothingInProduction(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.sandboxed = false
	srv := f.newServer(f.saga(f.store, f.orders))
	resp, err := srv.CreatePersonalLinks(f.local("p"), f.toCampaign(
		&linksv1.PersonalLinkRecipient{Label: "Ann", ExternalRecipientId: new("sandbox:auto")},
		&linksv1.PersonalLinkRecipient{Label: "Bob", ExternalRecipientId: new("sandbox:automatic")}))
	require.NoError(t, err)
	for _, r := range resp.GetResults() {
		require.NotNil(t, r.GetLink())
	}
	require.Zero(t, f.count(t, "sandbox_claims"))
	require.Zero(t, f.woken.Load())
}

// Every step of a link is broken before and after its effect, in an instance that another one then replaces.
func TestALinkIsClaimedByItselfAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	points := 0
	for met := true; met; points++ {
		link := f.auto(t, "sandbox:auto")[0]
		failure := &claimstest.Failure{At: points, Crash: true}
		broken := f.worker(f.failing(failure), func() {})
		f.due(t, broken)
		f.due(t, broken)
		f.endLeases(t)
		healthy := f.worker(f.saga(f.store, f.orders), func() {})
		require.NoError(t, f.saga(f.store, f.orders).ReconcileExpired(t.Context()))
		f.due(t, healthy)
		require.Equal(t, rules.Claimed, f.read(t, link).GetStatus(), "point %d", points)
		require.Len(t, f.orders.Of(link.GetId()), 1)
		require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.claimed"}, f.kinds(t, link.GetId()))
		require.Zero(t, f.count(t, "sandbox_claims"))
		met = failure.Reached
	}
	require.Greater(t, points, 4, "lock, place and finish have two points each")
}

func TestSeveralInstancesClaimEveryLinkOnce(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	links := f.auto(t, slices.Repeat([]string{"sandbox:auto=1s"}, 40)...)
	_, err := f.pool.Exec(t.Context(), "UPDATE sandbox_claims SET due_at = now()")
	require.NoError(t, err)
	problemtest.AtOnce(t, 3, func(int) error {
		_, _, err := f.worker(f.saga(f.store, f.orders), func() {}).Run(context.WithoutCancel(t.Context()))
		return err
	})
	for _, l := range links {
		require.Equal(t, rules.Claimed, f.read(t, l).GetStatus())
		require.Len(t, f.orders.Of(l.GetId()), 1)
	}
	require.Zero(t, f.count(t, "sandbox_claims"))
	require.Equal(t, 40, f.count(t, "outbox WHERE type = 'personal_link.claimed'"))
}

func TestAStepIsNeverFurtherAwayThanItsPaceOrTheLease(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	links := f.auto(t, "sandbox:auto", "sandbox:auto=60s")
	setBack := func(by time.Duration) {
		_, err := f.pool.Exec(t.Context(), "UPDATE sandbox_claims SET due_at = due_at + $1::interval", by)
		require.NoError(t, err)
	}
	w := f.worker(f.saga(f.store, f.orders), func() {})
	setBack(20 * time.Second) // A step that was just taken is as far away: it is left to its instance.
	_, _, err := w.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Active, rules.Claimed}, f.statuses(t, links))
	setBack(time.Hour)
	_, found, err := w.Run(t.Context())
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, []linksv1.PersonalLinkStatus{rules.Claimed, rules.Claimed}, f.statuses(t, links))
}
