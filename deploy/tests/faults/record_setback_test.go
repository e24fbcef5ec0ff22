//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// record is a row of a table that a writer knows.
type record struct {
	// state changes with every change.
	state, status string
	// partner is the order of a link, or the link of an order.
	partner string
}

// recordQueries read the records of a database.
var recordQueries = map[string]string{
	"orders": `SELECT id::text, updated_at || ' ' || version, status, coalesce(personal_link_id::text, '') FROM orders
UNION ALL SELECT id::text, '', 'message', '' FROM order_messages`,
	"links": `SELECT id::text, updated_at || ' ' || status, status, coalesce(order_id::text, '') FROM links`,
}

// recordsOf returns the records of a database by id.
func (d *drill) recordsOf(ctx context.Context, t *testing.T, database string) map[string]record {
	t.Helper()
	all := map[string]record{}
	withConn(ctx, t, d.urlOf(t, database), func(conn *pgx.Conn) {
		rows, err := conn.Query(ctx, recordQueries[database])
		require.NoError(t, err)
		var id string
		var one record
		_, err = pgx.ForEachRow(rows, []any{&id, &one.state, &one.status, &one.partner}, func() error {
			all[id] = one
			return nil
		})
		require.NoError(t, err)
	})
	return all
}

// lostRecords are what a database has lost when it went back: records, and later states of others.
type lostRecords struct{ before, after map[string]record }

// gone returns the ids of lost records that fit.
func (l lostRecords) gone(fits func(before record) bool) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(l.before)) {
		if _, exists := l.after[id]; !exists && fits(l.before[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// earlier returns the ids of records that have an earlier state and fit.
func (l lostRecords) earlier(fits func(before, after record) bool) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(l.before)) {
		after, exists := l.after[id]
		if exists && after.state != l.before[id].state && fits(l.before[id], after) {
			ids = append(ids, id)
		}
	}
	return ids
}

// goBackQuietly restores a database. The caller holds the gate: no writer makes a change, so that it is known what is lost. The
// writers forget their records: a client would send again what was lost, which the checks could not tell from a second effect.
func (d *drill) goBackQuietly(ctx context.Context, t *testing.T, database string) (l lostRecords) {
	t.Helper()
	d.awaitOutboxes(ctx, t)
	l.before = d.recordsOf(ctx, t, database)
	began := time.Now()
	restoreAll(ctx, t, d)
	l.after = d.recordsOf(ctx, t, database)
	lost := append(l.gone(func(record) bool { return true }), l.earlier(func(_, _ record) bool { return true })...)
	d.printf("%d records are lost or in an earlier state", len(lost))
	d.excuse(lost...)
	for _, w := range d.writers {
		w.orders, w.links, w.stocked, w.requests = nil, nil, nil, nil
	}
	d.history.update(func() {
		for _, id := range lost {
			if h := d.history.holds[id]; h != nil && h.until.IsZero() {
				h.until = began
			}
		}
	})
	return l
}

// awaitOutboxes waits until all changes are in Kafka and the readers have stored them.
func (d *drill) awaitOutboxes(ctx context.Context, t *testing.T) {
	t.Helper()
	unpublished := func(database string) int {
		return queryOne[int](ctx, t, d.urlOf(t, database), "SELECT count(*) FROM outbox WHERE confirmed_at IS NULL")
	}
	published := waitFor(catchUp, func() bool { return unpublished("orders")+unpublished("links") == 0 })
	require.True(t, published, "the relay has not published everything")
	d.awaitReaders(ctx, t)
}

// reconciled is the report of orders reconcile: the ids of the records that differ, by kind.
type reconciled map[string][]string

// reconcile runs a command of the runbook, by its beginning, and reads the differences that are left.
func (d *drill) reconcile(ctx context.Context, t *testing.T, flag string) reconciled {
	t.Helper()
	if flag != "" {
		d.follow(ctx, t, "restore", "GiftingRecordsSetBack", "program orders reconcile "+flag)
	}
	all := d.follow(ctx, t, "restore", "GiftingRecordsSetBack", "program orders reconcile --json")
	var report struct {
		Differences []struct{ Kind, OrderID, LinkID, HoldID string }
	}
	require.NoError(t, json.Unmarshal([]byte(all[0].output), &report))
	found := reconciled{}
	for _, one := range report.Differences {
		id := one.OrderID
		switch one.Kind {
		case "order_of_missing_link", "link_not_claimed":
			id = one.LinkID
		case "stock_held_without_order":
			id = one.HoldID
		}
		found[one.Kind] = append(found[one.Kind], id)
	}
	for _, ids := range found {
		slices.Sort(ids)
	}
	return found
}

// requireReported requires that the command names exactly these records, and none of another kind.
func (d *drill) requireReported(found, want reconciled) {
	for kind := range maps.Keys(want) {
		if len(want[kind]) == 0 {
			delete(want, kind)
		}
	}
	kinds := maps.Clone(found)
	maps.Copy(kinds, want)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		d.require(slices.Equal(found[kind], want[kind]), loss, d.prepared, time.Now(),
			"%s: reconcile reports %v, but these differ: %v", kind, found[kind], want[kind])
	}
}
