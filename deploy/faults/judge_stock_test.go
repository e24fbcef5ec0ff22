//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// units are what the campaign with stock has: fewer than its writers want.
const units = 8

// neverOversold demands that at no time more units were held for certain than there are.
func (l *ledger) neverOversold(v *verdict) {
	l.lock.Lock()
	defer l.lock.Unlock()
	type turn struct {
		at   time.Time
		held int
	}
	var turns []turn
	for _, h := range l.holds {
		turns = append(turns, turn{h.from, 1})
		if !h.until.IsZero() {
			turns = append(turns, turn{h.until, -1})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return a.at.Compare(b.at) })
	held := 0
	for _, t := range turns {
		if held += t.held; held > units {
			v.broken(stock, t.at, t.at, "oversold: %d units of %d were held", held, units)
		} else {
			v.kept(stock, t.at, t.at)
		}
	}
}

// left gives the units that the platform says are left.
func left(ctx context.Context, c *client, campaign string) (int, bool) {
	a, ok := c.exchange(ctx, call{method: http.MethodGet, path: "/campaigns/" + campaign})
	var read struct {
		Offerings []struct {
			SKUs []struct {
				StockRemaining int `json:"stockRemaining"`
			} `json:"skus"`
		} `json:"offerings"`
	}
	if !ok || json.Unmarshal([]byte(a.body), &read) != nil || len(read.Offerings) == 0 {
		return 0, false
	}
	return read.Offerings[0].SKUs[0].StockRemaining, true
}

// watchStock looks during the run whether there are too many or too few units left.
func watchStock(ctx context.Context, c *client, campaign string) {
	for ctx.Err() == nil {
		began := time.Now()
		if n, ok := left(context.WithoutCancel(ctx), c, campaign); ok && (n < 0 || n > units) {
			c.verdict.broken(stock, began, time.Now(), "%d units are left of %d", n, units)
		} else if ok {
			c.verdict.kept(stock, began, time.Now())
		}
		pauseFor(ctx, time.Second)
	}
}

// held counts the orders that have a unit of the campaign.
func held(orders map[string]snapshot, campaign string) (n int) {
	for _, o := range orders {
		if o.CampaignID != nil && *o.CampaignID == campaign && o.Status != "CANCELLED" {
			n++
		}
	}
	return n
}
