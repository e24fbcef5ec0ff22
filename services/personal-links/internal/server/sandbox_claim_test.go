package server_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// asTenant is the context of a POST by a key of another tenant.
func (f *fixture) asTenant(id string) context.Context {
	f.t.Helper()
	ctx, err := caller.Outgoing(f.t.Context(), caller.Principal{TenantID: id, KeyID: 8, AllBrands: true},
		caller.Request{IdempotencyKey: "other", Fingerprint: []byte("other"), ID: "trace"})
	require.NoError(f.t, err)
	return ctx
}

func (f *fixture) claimInSandbox(
	ctx context.Context, req *linksv1.ClaimSandboxPersonalLinkRequest,
) (*linksv1.PersonalLink, error) {
	resp, err := f.sandbox.ClaimSandboxPersonalLink(ctx, req)
	return resp.GetLink(), err
}

// anyGift is a claim that leaves everything open.
func anyGift(l *linksv1.PersonalLink) *linksv1.ClaimSandboxPersonalLinkRequest {
	return &linksv1.ClaimSandboxPersonalLinkRequest{LinkId: l.GetId()}
}

// theJersey is a claim that leaves nothing open.
func theJersey(l *linksv1.PersonalLink) *linksv1.ClaimSandboxPersonalLinkRequest {
	return &linksv1.ClaimSandboxPersonalLinkRequest{
		LinkId: l.GetId(), ProductId: new(jerseyID), Variations: map[string]string{"Size": "M"},
		Recipient: &linksv1.SandboxRecipient{
			Name: "Marked Player", Phone: "+46 70 123 45 67", Email: new("marked@example.com"),
			Address: &linksv1.SandboxAddress{Street: "Marked Street 1", City: "Visby", PostalCode: new("621 57"), Country: "SE"},
		},
	}
}

func TestInTheSandboxAKeyClaimsALink(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	claimed, err := f.claimInSandbox(f.post("c"), theJersey(link))
	require.NoError(t, err)
	require.True(t, proto.Equal(claimed, f.read(t, link)))
	placed := f.orders.Placed()[claimed.GetOrderId()]
	require.Equal(t, jerseyID, placed.GetProductId())
	require.Equal(t, map[string]string{"Size": "M"}, placed.GetVariations())
	require.Equal(t, "Marked Ann", placed.GetClient().GetName())
	require.Equal(t, "Marked Street 1", placed.GetRecipient().GetAddress().GetStreet())
	require.Equal(t, "621 57", placed.GetRecipient().GetAddress().GetPostalCode())
	require.Equal(t, "marked@example.com", placed.GetRecipient().GetEmail())
	require.Zero(t, f.events(t)[1].origin, "the key receives the event by webhook")
	for range 2 {
		_, err := f.claimInSandbox(f.post("again"), theJersey(link))
		requireRefused(t, err, problem.NotEditable, "CLAIMED")
	}
	f.requireNothingPersonal(t)
}

func TestInTheSandboxAClaimChoosesWhatItsKeyLeavesOpen(t *testing.T) {
	t.Parallel()
	f := setup(t)
	sizes := f.catalog.gifts[1].GetSkus()
	claim := func(change func(r *linksv1.ClaimSandboxPersonalLinkRequest)) (productID, size, country string) {
		req := anyGift(f.newLink(t))
		change(req)
		link, err := f.claimInSandbox(f.post(newID()), req)
		require.NoError(t, err)
		placed := f.orders.Placed()[link.GetOrderId()]
		return placed.GetProductId(), placed.GetVariations()["Size"], placed.GetRecipient().GetAddress().GetCountry()
	}
	t.Run("everything", func(t *testing.T) {
		product, size, country := claim(func(*linksv1.ClaimSandboxPersonalLinkRequest) {})
		require.Equal(t, []string{mugID, "", "SE"}, []string{product, size, country})
	})
	t.Run("the combination in stock", func(t *testing.T) {
		product, size, country := claim(func(r *linksv1.ClaimSandboxPersonalLinkRequest) { r.ProductId = new(jerseyID) })
		require.Equal(t, []string{jerseyID, "M", "SE"}, []string{product, size, country})
	})
	t.Run("a gift for the recipient's country", func(t *testing.T) {
		product, _, country := claim(func(r *linksv1.ClaimSandboxPersonalLinkRequest) {
			r.Recipient = theJersey(&linksv1.PersonalLink{}).GetRecipient()
			r.Recipient.Address.Country = "IE"
		})
		require.Equal(t, []string{mugID, "IE"}, []string{product, country})
	})
	t.Run("a gift that is left", func(t *testing.T) {
		f.catalog.gifts[0], f.catalog.gifts[1] = f.catalog.gifts[1], f.catalog.gifts[0]
		sizes[1].StockRemaining = new(int32(0))
		product, _, _ := claim(func(*linksv1.ClaimSandboxPersonalLinkRequest) {})
		require.Equal(t, mugID, product)
	})
	t.Run("nothing if no gift is left", func(t *testing.T) {
		f.catalog.gifts = f.catalog.gifts[:1]
		link := f.newLink(t)
		_, err := f.claimInSandbox(f.post("c"), anyGift(link))
		require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
		sizes[1].StockRemaining = new(int32(1))
		_, err = f.claimInSandbox(f.post("c"), anyGift(link))
		require.True(t, problem.Is(err, problem.OutOfStock), "the stored answer: %v", err)
		require.True(t, proto.Equal(link, f.read(t, link)), "the link stays ACTIVE")
		f.catalog.gifts = nil
		_, err = f.claimInSandbox(f.post("d"), anyGift(link))
		require.True(t, problem.Is(err, problem.ProductNotAvailable), "%v", err)
		f.catalog.closed = true
		_, err = f.claimInSandbox(f.post("e"), anyGift(link))
		require.True(t, problem.Is(err, problem.CampaignNotActive), "%v", err)
	})
}

func TestErrorsOfAClaimInTheSandbox(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	empty := theJersey(link)
	empty.ProductId, empty.Recipient = nil, &linksv1.SandboxRecipient{}
	_, err := f.claimInSandbox(f.post(newID()), empty)
	requireViolations(t, err, "productId required", "recipient.name required", "recipient.phone required",
		"recipient.address required")
	empty.Recipient.Address = &linksv1.SandboxAddress{}
	_, err = f.claimInSandbox(f.post(newID()), empty)
	requireViolations(t, err, "productId required", "recipient.name required", "recipient.phone required",
		"recipient.address.street required", "recipient.address.city required", "recipient.address.country required")
	required := problem.Violation{Field: "recipient.address.postalCode", Code: problem.FieldRequired, Message: "no"}
	f.orders.Refuse(problem.Invalid(required))
	_, err = f.claimInSandbox(f.post(newID()), theJersey(link))
	requireViolations(t, err, "recipient.address.postalCode required")
	f.orders.Refuse(problem.New(problem.OutOfStock, "no"))
	_, err = f.claimInSandbox(f.post(newID()), theJersey(link))
	require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
	f.orders.Refuse(problem.Unavailable())
	_, err = f.claimInSandbox(f.post("free"), theJersey(link))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	f.orders.Refuse(nil)
	require.Empty(t, f.orders.Placed())
	require.True(t, proto.Equal(link, f.read(t, link)), "nothing has changed")
	_, err = f.claimInSandbox(f.post("free"), theJersey(link))
	require.NoError(t, err, "a failure leaves the key free")
}

func TestARefusedClaimInTheSandboxIsOnlyForAKeyThatReachesTheLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.cancel(t, "k", link)
	claim := func(brand string) (replayed []string, err error) {
		var header metadata.MD
		_, err = f.sandbox.ClaimSandboxPersonalLink(f.post("c", brand), anyGift(link), grpc.Header(&header))
		return header.Get(caller.ReplayedHeader), err
	}
	_, err := claim(f.brand)
	requireRefused(t, err, problem.NotEditable, "CANCELLED")
	replayed, err := claim(newID())
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Empty(t, replayed)
	replayed, err = claim(f.brand)
	requireRefused(t, err, problem.NotEditable, "CANCELLED")
	require.Equal(t, []string{"true"}, replayed)
}

func TestConcurrentClaimsByKeyAndByPlayerPlaceOneOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 20 {
		link := f.newLink(t)
		var references, orders atomic.Int32
		problemtest.AtOnce(t, 8, func(i int) error {
			if i%2 == 0 {
				_, err := f.claimInSandbox(f.post(fmt.Sprint(link.GetId(), i)), anyGift(link))
				if err == nil {
					orders.Add(1)
				}
				return err
			}
			resp, err := f.site.ClaimLink(t.Context(), claimOf(link))
			if resp.GetOrderReference() != "" {
				references.Add(1)
			}
			return err
		}, problem.NotEditable)
		require.EqualValues(t, 1, references.Load()+orders.Load(), "one claim succeeds")
		require.Equal(t, []string{f.read(t, link).GetOrderId()}, f.orders.Of(link.GetId()))
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
	}
}

// Every repetition of one request gets the answer of the claim, or that it is still running.
func TestConcurrentRepetitionsOfAClaimGetItsAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 10 {
		link, key := f.newLink(t), newID()
		problemtest.AtOnce(t, 5, func(int) error {
			claimed, err := f.claimInSandbox(f.post(key), anyGift(link))
			if err == nil && claimed.GetStatus() != rules.Claimed {
				err = problem.New(problem.InternalError, "%s", claimed.GetStatus())
			}
			return err
		}, problem.IdempotencyInProgress)
		require.Len(t, f.orders.Of(link.GetId()), 1)
		claimed, err := f.claimInSandbox(f.post(key), anyGift(link))
		require.NoError(t, err)
		require.True(t, proto.Equal(f.read(t, link), claimed))
	}
}

func (f *fixture) approveInSandbox(ctx context.Context, linkID string) (*linksv1.PersonalLink, error) {
	resp, err := f.sandbox.ApproveSandboxPersonalLink(ctx, &linksv1.ApproveSandboxPersonalLinkRequest{LinkId: linkID})
	return resp.GetLink(), err
}

func TestInTheSandboxAKeyApprovesALink(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	_, links := f.waiting(t, 1)
	link := links[0]
	approved, err := f.approveInSandbox(f.post("a"), link.GetId())
	require.NoError(t, err)
	require.Zero(t, f.events(t)[1].origin, "the key receives the event by webhook")
	require.Equal(t, 1, f.count(t, "link_audit WHERE action = 'APPROVED' AND actor_kind = 'SYSTEM' AND actor_id = 'Sandbox'"))
	f.claim(t, claimOf(link))
	again, err := f.approveInSandbox(f.post("a"), link.GetId())
	require.NoError(t, err)
	require.True(t, proto.Equal(approved, again), "a repetition gets the first answer")
	same, err := f.approveInSandbox(f.post("b"), link.GetId())
	require.NoError(t, err)
	require.True(t, proto.Equal(f.read(t, link), same), "an approved link does not change")
	require.Equal(t, 1, f.count(t, "link_audit"))
}
