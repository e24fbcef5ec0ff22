package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

// testStock places five hundred orders for a hundred units at once, and cancels those that got one. It uses several keys
// because of the rate limit.
func testStock(t *testing.T, p *platform) {
	const orders, units, keys = 500, 100, 4
	f := newFixture(t, p)
	gift := f.putGift(t)
	campaign := f.campaign(t, units, gift)
	from := all(ofCampaign(campaign.GetId()), ofGift(gift.GetId()))
	requests, answers := make([]call, orders), make([]answer, orders)
	for i := range requests {
		requests[i] = f.postCall("/orders", f.body(t, from))
		if i < keys {
			requests[i].Key = f.newKey(t)
		} else {
			requests[i].Key = requests[i%keys].Key
		}
	}
	requirement(t, "CHO-40", func(t *testing.T) {
		var group errgroup.Group
		for i, request := range requests {
			group.Go(func() error {
				answers[i] = p.Send(t, request)
				return nil
			})
		}
		require.NoError(t, group.Wait())
		var placed []call
		for i, a := range answers {
			if a.Status >= 300 {
				a.Problem(t, "out_of_stock")
				continue
			}
			cancel := f.postCall("/orders/"+idOf(a.Object(t))+":cancel", `{"reason": "Not needed."}`)
			cancel.Key = requests[i].Key
			placed = append(placed, cancel)
		}
		require.Len(t, placed, units)
		require.Equal(t, []any{0.0}, f.stockOf(t, campaign))
		for _, cancel := range placed {
			p.Send(t, cancel).OK(t)
		}
		require.Eventually(t, func() bool { return f.stockOf(t, campaign)[0] == float64(units) }, harness.Slow, 100*time.Millisecond)
	})
	one := f.campaign(t, 1, gift)
	from = all(ofCampaign(one.GetId()), ofGift(gift.GetId()))
	requirement(t, "CHO-39", func(t *testing.T) {
		cancelled := idOf(f.place(t, from))
		f.cancel(t, "/orders/"+cancelled)
		holder := idOf(f.place(t, from))
		require.Error(t, f.tryCorrectStatus(t, cancelled, processing))
		require.Equal(t, "CANCELLED", f.read(t, "/orders/"+cancelled)["status"])
		f.cancel(t, "/orders/"+holder)
		require.NoError(t, f.tryCorrectStatus(t, cancelled, processing))
		require.Equal(t, []any{0.0}, f.stockOf(t, one))
	})
	requirement(t, "CHO-41", func(t *testing.T) {
		plenty := f.putGift(t)
		campaign := f.campaign(t, 1, gift, plenty)
		link := f.link(t, fromCampaign(campaign.GetId()))
		request := f.choiceOf(t, link)
		require.Equal(t, gift.GetId(), request.GetProductId())
		f.place(t, all(ofCampaign(campaign.GetId()), ofGift(gift.GetId())))
		_, err := f.GiftSite(t).ClaimLink(t.Context(), request)
		require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
		require.Equal(t, link, f.read(t, "/personal-links/"+idOf(link)))
		require.Equal(t, plenty.GetId(), at(f.orderOf(t, f.claim(t, link)), "items.0.productId"))
	})
}
