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
	body := text(batchBody(w.product, w.brand, 1+w.random.IntN(3)))
	w.post(ctx, "/personal-links:create-batch", body, func(d *deed, a answer) {
		var made struct {
			Results []struct{ Link json.RawMessage }
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil {
			w.verdict.broken(answers, d.asked, d.answered, "batch: %v: %s", err, a.body)
		}
		for _, r := range made.Results {
			if link, ok := w.read(r.Link); ok {
				d.add(linkMark(link.ID, "created"), link.raw)
				w.links = append(w.links, link)
				w.ledger.knows(w.tenant, link)
			}
		}
	})
}

func (w *writer) changeLink(ctx context.Context, i int) {
	link := w.links[i]
	w.links = slices.Delete(w.links, i, i+1)
	switch {
	case link.Status == "REQUESTED" && w.random.IntN(4) > 0:
		w.person(ctx, "approve link", []mark{linkMark(link.ID, "approved")}, func(ctx context.Context) error {
			_, err := w.team.ApprovePersonalLink(ctx, &linksv1.ApprovePersonalLinkRequest{Actor: coordinator, TenantId: w.tenant, LinkId: link.ID})
			return err
		})
		link.Status = "ACTIVE"
		w.links = append(w.links, link)
	case link.Status == "ACTIVE" && w.random.IntN(4) > 0:
		w.claim(ctx, link)
	default:
		w.post(ctx, "/personal-links/"+link.ID+":cancel", `{"reason": "No longer a player."}`, func(d *deed, a answer) {
			d.add(linkMark(link.ID, "cancelled"), a.body)
		})
	}
}

// claim does what a player does, and takes the order that comes of it over.
func (w *writer) claim(ctx context.Context, link snapshot) {
	asked := time.Now()
	done := w.person(ctx, "claim", nil, func(ctx context.Context) error {
		r, err := w.gifts.ClaimLink(ctx, claim(path.Base(link.ClaimURL), w.product))
		if err == nil && r.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
			err = status.Errorf(codes.FailedPrecondition, "the link is %s", r.GetState())
		}
		return err
	})
	answered := time.Now()
	if !done {
		return
	}
	claimed, ok := w.get(ctx, "/personal-links/"+link.ID)
	if !ok || claimed.OrderID == nil {
		w.verdict.broken(effect, asked, time.Now(), "claimed link %s names no order: %s", link.ID, claimed.raw)
		return
	}
	w.ledger.write(deed{
		tenant: w.tenant, asked: asked, answered: answered,
		marks: []mark{orderMark(*claimed.OrderID, 0), linkMark(link.ID, "claimed")},
		data:  map[mark]string{linkMark(link.ID, "claimed"): claimed.raw},
	})
	if order, ok := w.get(ctx, "/orders/"+*claimed.OrderID); ok {
		w.orders = append(w.orders, order)
	}
}
