package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// local is the context of a call of a server in this process.
func (f *fixture) local(idempotencyKey string) context.Context {
	p := caller.Principal{TenantID: f.tenant, TenantVersion: f.settings, KeyID: 7, AllBrands: true}
	return caller.WithRequest(caller.WithPrincipal(f.t.Context(), p),
		caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
}

func (f *fixture) endLeases(t *testing.T) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(),
		"UPDATE links SET claim_lease_until = now() - interval '1 second' WHERE claim_order_id IS NOT NULL")
	require.NoError(t, err)
}

// requireClaimed repeats a claim until its lock has ended, and checks its one effect.
func (f *fixture) requireClaimed(
	t *testing.T, key string, link *linksv1.PersonalLink, first *linksv1.ClaimSandboxPersonalLinkResponse,
) {
	t.Helper()
	early, err := f.claimInSandbox(f.post(key), anyGift(link))
	if err != nil {
		require.True(t, problem.Is(err, problem.IdempotencyInProgress), "%v", err)
		f.endLeases(t)
		require.NoError(t, f.saga(f.store, f.orders).ReconcileExpired(t.Context()))
		early, err = f.claimInSandbox(f.post(key), anyGift(link))
		require.NoError(t, err)
	}
	last, err := f.claimInSandbox(f.post(key), anyGift(link))
	require.NoError(t, err)
	require.True(t, proto.Equal(early, last), "every repetition gets the same answer")
	require.True(t, first.GetLink() == nil || proto.Equal(first.GetLink(), last))
	require.True(t, proto.Equal(f.read(t, link), last))
	require.Equal(t, rules.Claimed, last.GetStatus())
	require.Equal(t, []string{last.GetOrderId()}, f.orders.Of(link.GetId()))
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
}

func TestARepeatedClaimGetsItsAnswerAfterAFailureAtAnyStep(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]bool{"crash": true, "one call fails": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			points := 0
			for met := true; met; points++ {
				link, key := f.newLink(t), newID()
				failure := &claimstest.Failure{At: points, Crash: crash}
				first, err := f.newServer(f.failing(failure)).ClaimSandboxPersonalLink(f.local(key), anyGift(link))
				require.True(t, failure.Reached || err == nil, "%v", err)
				f.requireClaimed(t, key, link, first)
				met = failure.Reached
			}
			require.Greater(t, points, 4, "lock and place have two points each")
		})
	}
}

func TestARepeatedClaimGetsItsAnswerIfItWasNotStored(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link, key := f.newLink(t), newID()
	_, err := f.pool.Exec(t.Context(),
		`ALTER TABLE idempotency_answers ADD CONSTRAINT broken CHECK (idempotency_key <> '`+key+`') NOT VALID`)
	require.NoError(t, err)
	_, err = f.claimInSandbox(f.post(key), anyGift(link))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	require.Equal(t, rules.Active, f.read(t, link).GetStatus(), "the claim and its answer are stored together")
	require.Len(t, f.orders.Of(link.GetId()), 1)
	_, err = f.pool.Exec(t.Context(), `ALTER TABLE idempotency_answers DROP CONSTRAINT broken`)
	require.NoError(t, err)
	f.requireClaimed(t, key, link, nil)
}

// lateOrders places an order, and answers after something else has happened.
type lateOrders struct {
	*claimstest.Orders
	meanwhile func()
}

func (o lateOrders) PlaceClaimedOrder(
	ctx context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	resp, err := o.Orders.PlaceClaimedOrder(ctx, r)
	o.meanwhile()
	return resp, err
}

func TestAClaimGetsTheAnswerThatARepetitionHasStoredMeanwhile(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link, key := f.newLink(t), newID()
	var repeated *linksv1.PersonalLink
	orders := lateOrders{f.orders, func() {
		f.endLeases(t)
		require.NoError(t, f.saga(f.store, f.orders).ReconcileExpired(t.Context()))
		var err error
		repeated, err = f.claimInSandbox(f.post(key), anyGift(link))
		require.NoError(t, err)
	}}
	first, err := f.newServer(f.saga(f.store, orders)).ClaimSandboxPersonalLink(f.local(key), anyGift(link))
	require.NoError(t, err)
	require.True(t, proto.Equal(repeated, first.GetLink()))
}

func TestAKeyDoesNotGetTheClaimThatALinkHasLost(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.claim(t, claimOf(link))
	f.set(t, link, "status = 'ACTIVE', order_id = NULL, claimed_at = NULL") // As after a restore.
	_, err := f.claimInSandbox(f.post("c"), anyGift(link))
	requireRefused(t, err, problem.NotEditable, "CLAIMED")
	require.Len(t, f.orders.Of(link.GetId()), 1)
	require.Equal(t, f.orders.Of(link.GetId())[0], f.read(t, link).GetOrderId())
}
