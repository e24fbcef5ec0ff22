package server_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
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
	ctx context.Context, req *linksv1.ClaimSandboxPersonalLinkRequest, opts ...grpc.CallOption,
) (*linksv1.PersonalLink, error) {
	resp, err := f.sandbox.ClaimSandboxPersonalLink(ctx, req, opts...)
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
	require.Equal(t, rules.Claimed, claimed.GetStatus())
	require.True(t, proto.Equal(claimed, f.read(t, link)))
	placed := f.orders.Placed()[claimed.GetOrderId()]
	require.Equal(t, link.GetId(), placed.GetPersonalLinkId())
	require.Equal(t, jerseyID, placed.GetProductId())
	require.Equal(t, map[string]string{"Size": "M"}, placed.GetVariations())
	require.Equal(t, "Marked Ann", placed.GetClient().GetName())
	require.Equal(t, "Marked Street 1", placed.GetRecipient().GetAddress().GetStreet())
	require.Equal(t, "621 57", placed.GetRecipient().GetAddress().GetPostalCode())
	require.Equal(t, "marked@example.com", placed.GetRecipient().GetEmail())
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
	require.Zero(t, f.events(t)[1].origin, "the key receives the event by webhook")

	t.Run("a repetition gets the first answer", func(t *testing.T) {
		var header metadata.MD
		again, err := f.claimInSandbox(f.post("c"), theJersey(link), grpc.Header(&header))
		require.NoError(t, err)
		require.True(t, proto.Equal(claimed, again))
		require.NotEmpty(t, header.Get(caller.ReplayedHeader))
		require.Len(t, f.orders.Placed(), 1)
	})
	t.Run("and another request is refused", func(t *testing.T) {
		for range 2 {
			_, err := f.claimInSandbox(f.post("again"), theJersey(link))
			p, _ := problem.As(err)
			require.Equal(t, problem.NotEditable, p.Code, "%v", err)
			require.Equal(t, "CLAIMED", p.CurrentStatus)
		}
	})
	t.Run("and nothing holds the recipient", func(t *testing.T) {
		everything := strings.ToLower(f.everyRow(t) + f.logged.String())
		for _, secret := range []string{"marked", "46701234567", "70 123 45 67"} {
			require.NotContains(t, everything, secret)
			require.NotContains(t, everything, hex.EncodeToString([]byte(secret)))
		}
	})
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
	type req = *linksv1.ClaimSandboxPersonalLinkRequest
	for name, c := range map[string]struct {
		change func(r req)
		want   []string
	}{
		"variations without a gift": {func(r req) { r.ProductId = nil }, []string{"productId required"}},
		"an empty recipient": {func(r req) { r.Recipient = &linksv1.SandboxRecipient{} }, []string{
			"recipient.name required", "recipient.phone required", "recipient.address.street required",
			"recipient.address.city required", "recipient.address.country required",
		}},
		"too long": {func(r req) {
			a, to := strings.Repeat("å", 300), r.GetRecipient()
			to.Name, to.Address.Street, to.Address.City, to.Address.PostalCode = a, a, a, &a
		}, []string{
			"recipient.name too_long", "recipient.address.street too_long", "recipient.address.city too_long",
			"recipient.address.postalCode too_long",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := theJersey(link)
			c.change(r)
			_, err := f.claimInSandbox(f.post(newID()), r)
			requireViolations(t, err, c.want...)
		})
	}
	t.Run("errors of orders are those of the request", func(t *testing.T) {
		required := problem.Violation{Field: "recipient.address.postalCode", Code: problem.FieldRequired, Message: "no"}
		f.orders.Refuse(problem.Invalid(required))
		_, err := f.claimInSandbox(f.post(newID()), theJersey(link))
		requireViolations(t, err, "recipient.address.postalCode required")
		f.orders.Refuse(problem.New(problem.OutOfStock, "no"))
		_, err = f.claimInSandbox(f.post(newID()), theJersey(link))
		require.True(t, problem.Is(err, problem.OutOfStock), "%v", err)
		f.orders.Refuse(problem.Unavailable())
		_, err = f.claimInSandbox(f.post("free"), theJersey(link))
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		f.orders.Refuse(nil)
	})
	require.Empty(t, f.orders.Placed())
	require.True(t, proto.Equal(link, f.read(t, link)), "nothing has changed")
	claimed, err := f.claimInSandbox(f.post("free"), theJersey(link))
	require.NoError(t, err, "a failure leaves the key free")
	require.Equal(t, rules.Claimed, claimed.GetStatus())
}

func TestConcurrentClaimsByKeyAndByPlayerPlaceOneOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	byKey := 0
	for range 20 {
		link := f.newLink(t)
		var group errgroup.Group
		wins := make(chan string, 8)
		for i := range 4 {
			group.Go(func() error {
				claimed, err := f.claimInSandbox(f.post(fmt.Sprint(link.GetId(), i)), anyGift(link))
				if problem.Is(err, problem.NotEditable) {
					return nil
				}
				if err == nil {
					wins <- claimed.GetOrderId()
				}
				return err
			})
			group.Go(func() error {
				resp, err := f.site.ClaimLink(t.Context(), claimOf(link))
				if resp.OrderReference != nil {
					wins <- ""
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
		close(wins)
		require.Len(t, wins, 1, "one claim succeeds")
		after := f.read(t, link)
		require.Equal(t, rules.Claimed, after.GetStatus())
		require.Len(t, f.orders.Of(link.GetId()), 1)
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
		if orderID := <-wins; orderID != "" {
			require.Equal(t, after.GetOrderId(), orderID)
			byKey++
		}
	}
	t.Logf("%d of 20 links were claimed by the key", byKey)
}

// Every repetition of one request gets the answer of the claim, or that it is still running.
func TestConcurrentRepetitionsOfAClaimGetItsAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 10 {
		link, key := f.newLink(t), newID()
		var group errgroup.Group
		for range 5 {
			group.Go(func() error {
				claimed, err := f.claimInSandbox(f.post(key), anyGift(link))
				if problem.Is(err, problem.IdempotencyInProgress) {
					return nil
				}
				if err == nil && claimed.GetStatus() != rules.Claimed {
					err = problem.New(problem.InternalError, "%s", claimed.GetStatus())
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
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
	require.Equal(t, rules.Active, approved.GetStatus())
	require.Equal(t, approved.GetUpdatedAt().AsTime(), approved.GetApprovedAt().AsTime())
	require.True(t, proto.Equal(approved, f.read(t, link)))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, f.kinds(t, link.GetId()))
	require.Zero(t, f.events(t)[1].origin, "the key receives the event by webhook")
	require.Equal(t, 1, f.count(t, "link_audit WHERE action = 'APPROVED' AND actor_kind = 'SYSTEM' AND actor_id = 'Sandbox'"))

	t.Run("a repetition gets the first answer", func(t *testing.T) {
		_, err := f.claimInSandbox(f.post("c"), &linksv1.ClaimSandboxPersonalLinkRequest{LinkId: link.GetId()})
		require.NoError(t, err)
		again, err := f.approveInSandbox(f.post("a"), link.GetId())
		require.NoError(t, err)
		require.True(t, proto.Equal(approved, again))
	})
	t.Run("an approved link does not change", func(t *testing.T) {
		same, err := f.approveInSandbox(f.post("b"), link.GetId())
		require.NoError(t, err)
		require.True(t, proto.Equal(f.read(t, link), same))
		require.Equal(t, rules.Claimed, same.GetStatus())
		require.Equal(t, 1, f.count(t, "link_audit"))
	})
}
