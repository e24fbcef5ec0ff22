//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func (w *writer) makeLinks(ctx context.Context) {
	body := toJSON(batchBody(w.product, w.brand, 1+w.random.IntN(3)))
	w.post(ctx, "/personal-links:create-batch", body, func(c *change, a answer) {
		var batch struct {
			Results []struct{ Link json.RawMessage }
		}
		if err := json.Unmarshal([]byte(a.body), &batch); err != nil {
			w.results.failed(answers, c.requested, c.answered, "batch: %v: %s", err, a.body)
		}
		for _, r := range batch.Results {
			if link, ok := w.parse(r.Link); ok {
				c.add(linkEvent(link.ID, "created"), link.raw)
				w.links = append(w.links, link)
				w.history.addRecord(w.tenant, link)
			}
		}
	})
}

func (w *writer) changeLink(ctx context.Context, i int) {
	link := w.links[i]
	w.links = slices.Delete(w.links, i, i+1)
	switch {
	case link.Status == "REQUESTED" && w.random.IntN(4) > 0:
		w.operate(ctx, "approve link", []eventName{linkEvent(link.ID, "approved")}, func(ctx context.Context) error {
			_, err := w.linkOperations.ApprovePersonalLink(ctx, &linksv1.ApprovePersonalLinkRequest{
				Actor: approver, TenantId: w.tenant, LinkId: link.ID,
			})
			return err
		})
		link.Status = "ACTIVE"
		w.links = append(w.links, link)
	case link.Status == "ACTIVE" && w.random.IntN(4) > 0:
		w.claim(ctx, link)
	default:
		w.post(ctx, "/personal-links/"+link.ID+":cancel", `{"reason": "No longer a player."}`, func(c *change, a answer) {
			c.add(linkEvent(link.ID, "cancelled"), a.body)
		})
	}
}

// claim claims a link as a player does, and goes on with its order.
func (w *writer) claim(ctx context.Context, link snapshot) {
	c := change{tenant: w.tenant, requested: time.Now()}
	done := w.operate(ctx, "claim", nil, func(ctx context.Context) error {
		r, err := w.giftSite.ClaimLink(ctx, claim(path.Base(link.ClaimURL), w.product))
		if err == nil && r.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
			err = status.Errorf(codes.FailedPrecondition, "the link is %s", r.GetState())
		}
		return err
	})
	c.answered = time.Now()
	if !done {
		return
	}
	claimed, ok := w.get(ctx, "/personal-links/"+link.ID)
	if !ok || claimed.OrderID == nil {
		w.results.failed(effect, c.requested, time.Now(), "claimed link %s has no order: %s", link.ID, claimed.raw)
		return
	}
	c.events = []eventName{orderEvent(*claimed.OrderID, 0)}
	c.add(linkEvent(link.ID, "claimed"), claimed.raw)
	w.history.add(c)
	if order, ok := w.get(ctx, "/orders/"+*claimed.OrderID); ok {
		w.orders = append(w.orders, order)
	}
}
