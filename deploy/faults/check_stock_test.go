//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// units are those of the campaign with stock: fewer than its writers want.
const units = 8

// checkOversold requires that at no time more units were certainly held than exist.
func (h *history) checkOversold(r *results) {
	h.lock.Lock()
	defer h.lock.Unlock()
	type step struct {
		at    time.Time
		units int
	}
	var steps []step
	for _, hold := range h.holds {
		steps = append(steps, step{hold.from, 1})
		if !hold.until.IsZero() {
			steps = append(steps, step{hold.until, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	held := 0
	for _, s := range steps {
		if held += s.units; held > units {
			r.failed(stock, s.at, s.at, "oversold: %d units of %d were held", held, units)
		} else {
			r.passed(stock, s.at, s.at)
		}
	}
}

// remainingUnits are those that the platform says remain.
func remainingUnits(ctx context.Context, by *client, campaign string) (int, bool) {
	a, ok := by.send(ctx, call{method: http.MethodGet, path: "/campaigns/" + campaign})
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

// watchStock checks the remaining units during the run.
func watchStock(ctx context.Context, by *client, campaign string) {
	for ctx.Err() == nil {
		began := time.Now()
		if n, ok := remainingUnits(context.WithoutCancel(ctx), by, campaign); ok && (n < 0 || n > units) {
			by.results.failed(stock, began, time.Now(), "%d units of %d remain", n, units)
		} else if ok {
			by.results.passed(stock, began, time.Now())
		}
		sleep(ctx, time.Second)
	}
}

// heldUnits counts the orders that have a unit of the campaign.
func heldUnits(orders map[string]snapshot, campaign string) (n int) {
	for _, o := range orders {
		if o.CampaignID != nil && *o.CampaignID == campaign && o.Status != "CANCELLED" {
			n++
		}
	}
	return n
}
