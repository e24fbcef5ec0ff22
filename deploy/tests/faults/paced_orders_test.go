//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"
)

const (
	// pace is the time before each step of an order that advances by itself. Times are cut to paceUnit.
	pace     = time.Second
	paceUnit = time.Millisecond
)

// nextStatus is where an order goes from a status by itself.
var nextStatus = map[string]string{"REQUESTED": "PROCESSING", "PROCESSING": "SENT", "SENT": "COMPLETED"}

// paceOrders lets the writers place orders that advance by themselves.
func (f *fixture) paceOrders() {
	for _, w := range f.writers {
		w.placesPaced = true
	}
}

// placePaced places an order that advances by itself.
func (w *writer) placePaced(ctx context.Context) {
	body, directive, stop := orderBody(w.product, w.brand), "sandbox:auto="+pace.String(), "COMPLETED"
	if w.random.IntN(3) == 0 {
		directive, stop = directive+",stop=SENT", "SENT"
	}
	body["externalActionRef"] = directive
	w.post(ctx, "/orders", toJSON(body), w.noteOrder(func(order snapshot, _ *change) {
		w.paced = &order
		w.history.addRecord(w.tenant, order)
		w.history.update(func() { w.history.paced[order.ID] = stop })
	}))
}

// changePaced tries to change an order that may have advanced meanwhile.
func (w *writer) changePaced(ctx context.Context) {
	path, version := "/orders/"+w.paced.ID, w.paced.Version
	w.paced = nil
	update := w.noteOrder(func(snapshot, *change) {})
	if w.random.IntN(2) == 0 {
		w.post(ctx, path+":cancel", cancellation, update, "not_cancellable")
		return
	}
	body := fmt.Sprintf(`{"expectedVersion": %d, "courierComment": %q}`, version, rand.Text())
	w.post(ctx, path+":update-delivery", body, update, "not_editable", "version_conflict")
}

// underway are the tenant's orders that have not gone as far as they go by themselves.
func (c *checker) underway() (orders []snapshot) {
	for id, stop := range c.paced {
		if o, exists := c.orders[id]; exists && o.Status != stop && o.Status != "CANCELLED" {
			orders = append(orders, o)
		}
	}
	return orders
}

// checkSteps requires that each order that advances by itself has gone as far as it does, and took each step once and not before
// its time. Nothing else may change it, except its writer. It returns the number of steps.
func (c *checker) checkSteps() (steps int) {
	for _, o := range c.underway() {
		c.failed(effect, c.began, c.ended, "order %s did not go on: it is %s and stops at %s", o.ID, o.Status, c.paced[o.ID])
	}
	status, stepped := map[string]string{}, map[string]time.Time{}
	for _, e := range c.feed {
		stop := c.paced[e.subject]
		if stop == "" || e.kind == messagePosted {
			continue
		}
		before, since := status[e.subject], stepped[e.subject]
		status[e.subject] = e.record.Status
		at, err := time.Parse(time.RFC3339Nano, e.occurredAt)
		if err != nil {
			c.failed(answers, c.began, c.ended, "%s: %v", e.name, err)
		}
		if _, answered := c.byEvent[e.name]; answered {
			if before == "" {
				stepped[e.subject] = at // It was placed.
			}
			continue
		}
		stepped[e.subject] = at
		_, seen := c.span(e.name, e.id)
		c.require(before != stop && nextStatus[before] == e.record.Status, effect, since, seen,
			"second effect: %s was never answered, and is no step from %s to %s", e.name, before, stop)
		c.require(at.Sub(since) >= pace-paceUnit, effect, since, seen,
			"early step: %s comes %s after the step before", e.name, at.Sub(since))
		steps++
	}
	return steps
}
