package moves

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// The functions are those of the webhook service's database. Held deliveries are claimed by no sender.
	holdDeliveries = `SELECT hold_deliveries($1, $2)`

	releaseDeliveries = `SELECT release_deliveries($1) WHERE EXISTS (SELECT FROM moving_tenants WHERE tenant_id = $1)`

	// The lease of a sender that died ends by itself.
	countSending = `SELECT count(*) FROM deliveries
WHERE tenant_id = $1 AND key_id = ANY($2::int[]) AND lease_token IS NOT NULL AND next_attempt_at > clock_timestamp()`
)

// pause makes the webhooks of the tenant wait. The step is complete when none is being sent. From here on the copy follows the rows
// of keys that were made since it began; carryLate copies their earlier ones.
func (m *Mover) pause(ctx context.Context, c *cells, move *store.Move) (next tenantsv1.MoveStep, err error) {
	if err := m.deps.Store.MoveKeys(ctx, move); err != nil {
		return 0, err
	}
	if len(move.Late) > 0 {
		err := c.each(all(), func(from, _ *database) error {
			return from.run(ctx, "follow new keys", "ALTER PUBLICATION "+quoted(c.name(from))+" SET TABLE "+c.published(from))
		})
		if err != nil {
			return 0, err
		}
	}
	webhook := c.source[webhookDB]
	if err := webhook.run(ctx, "hold deliveries", holdDeliveries, move.ID, move.KeyIDs); err != nil {
		return 0, err
	}
	sending, err := value[int](ctx, webhook, countSending, move.ID, move.KeyIDs)
	if err != nil || sending > 0 {
		return store.Pausing, err
	}
	return store.Switching, nil
}

const (
	// Class 57 is that of an operator's intervention: services answer it with service_unavailable.
	leavingFunction = `CREATE OR REPLACE FUNCTION gifting_tenant_leaves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the tenant is being moved to another cell' USING ERRCODE = '57G01';
END
$$`

	// The workers of the new cell leave the rows of a tenant that arrives as they are: to them nothing is there to change. It must not
	// be an error, which would stop what a worker does for other tenants.
	arrivingFunction = `CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END
$$`

	// Just before the switch the same triggers refuse changes: one that had no effect would be lost.
	closedFunction = `CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the tenant is being moved to this cell' USING ERRCODE = '57G01';
END
$$`

	// A trigger waits for the transactions that write to its table, and those that follow wait for it: so it must not wait for long.
	fenceLock = `SET LOCAL lock_timeout = '200ms'`
	dropLock  = `SET LOCAL lock_timeout = '50ms'`

	// Empty: there is none; D: it is disabled.
	selectTrigger = `SELECT coalesce((SELECT tgenabled::text FROM pg_trigger WHERE tgname = $1 AND tgrelid = $2::regclass), '')`
)

// unfenced are tables that retention writes for all tenants at once. A dropped day of the feed changes nothing that a reader could
// see.
var unfenced = []string{"feed_tenants", "feed_dropped"}

// fence makes the old cell refuse changes of the tenant in the databases. Then no transaction that changes it is in progress there.
// Rows may still be deleted: what retention deletes here, it deletes in the new cell.
func (c *cells) fence(ctx context.Context, names []string) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		group.Go(func() error { return c.fenceLeaving(ctx, c.source[name]) })
	}
	return group.Wait()
}

func (c *cells) fenceLeaving(ctx context.Context, d *database) error {
	if err := d.run(ctx, "make fence", leavingFunction); err != nil {
		return err
	}
	for _, t := range d.tables {
		guard := trigger{events: "INSERT OR UPDATE", row: "NEW.", function: "gifting_tenant_leaves"}
		if t.name == feed {
			guard.events = "UPDATE" // Its writer stores events of many tenants at once, and none of this one arrives any more.
		}
		if err := c.fenceTable(ctx, d, t, guard); err != nil {
			return err
		}
	}
	return nil
}

// feed is the table of the events.
const feed = "feed"

// fenceArrival keeps the workers of the new cell from the rows of the tenant. Apply workers fire no such trigger.
func (c *cells) fenceArrival(ctx context.Context, d *database) error {
	function := quoted(c.name(d))
	if err := d.run(ctx, "make fence", fmt.Sprintf(arrivingFunction, function)); err != nil {
		return err
	}
	tables := d.tables
	if d.outbox {
		tables = append(tables[:len(tables):len(tables)], table{name: outbox})
	}
	for _, t := range tables {
		if t.name == feed {
			continue // No event of the tenant arrives but by replication.
		}
		for _, guard := range []trigger{
			{events: "INSERT OR UPDATE", row: "NEW.", function: function},
			{events: "DELETE", row: "OLD.", function: function, suffix: deleteSuffix},
		} {
			if err := c.fenceTable(ctx, d, t, guard); err != nil {
				return err
			}
		}
	}
	return nil
}

// trigger is a fence of one table: for which events of the tenant's rows it runs a function.
type trigger struct{ events, row, function, suffix string }

// deleteSuffix ends the name of a trigger for deletions: one trigger cannot be about both old and new rows.
const deleteSuffix = "_d"

// close makes the new cell refuse changes of the tenant until it is opened. Then its workers have changed nothing of the tenant.
func (c *cells) close(ctx context.Context) error {
	for _, d := range c.target {
		if err := d.run(ctx, "close cell", fmt.Sprintf(closedFunction, quoted(c.name(d)))); err != nil {
			return err
		}
	}
	return nil
}

func (c *cells) fenceTable(ctx context.Context, d *database, t table, guard trigger) error {
	if slices.Contains(unfenced, t.name) {
		return nil
	}
	name := c.name(d) + guard.suffix
	state, err := value[string](ctx, d, selectTrigger, name, t.name)
	switch {
	case err != nil:
		return err
	case state == "D":
		return c.withLock(ctx, d, "ALTER TABLE "+quoted(t.name)+" ENABLE TRIGGER "+quoted(name))
	case state != "":
		return nil
	}
	return c.withLock(ctx, d, "CREATE TRIGGER "+quoted(name)+" BEFORE "+guard.events+" ON "+quoted(t.name)+" FOR EACH ROW WHEN ("+
		c.rows(t, guard.row)+") EXECUTE FUNCTION "+guard.function+"()")
}

// lockNotAvailable is the SQLSTATE of a statement that has waited for lock_timeout.
const lockNotAvailable = "55P03"

// withLock runs statements that keep writers from tables, all or none. It tries again until the tables are free.
func (c *cells) withLock(ctx context.Context, d *database, statements ...string) error {
	for {
		err := pgx.BeginFunc(ctx, d.Conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, strings.Join(append([]string{fenceLock}, statements...), "; "))
			return err
		})
		if postgres.State(err) != lockNotAvailable {
			if err != nil {
				err = fmt.Errorf("fence in %s of cell %s: %w", d.name, d.cell, err)
			}
			return err
		}
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}

const selectFences = `SELECT format($2, tgrelid::regclass, tgname) FROM pg_trigger
WHERE tgname IN ($1::text, $1::text || '_d') AND tgparentid = 0 AND ($3 OR tgenabled <> 'D')`

// unfence lets a cell change the tenant again. All tables of a database are free at once: a worker must not change one, and have no
// effect on another. The triggers are only disabled: to drop them would wait for all readers of a table, such as a backup.
func (c *cells) unfence(ctx context.Context, side map[string]*database) error {
	for _, d := range side {
		fences, err := postgres.Select(ctx, d.Conn, "list fences", pgx.RowTo[string], selectFences,
			c.name(d), "ALTER TABLE %1$s DISABLE TRIGGER %2$I", false)
		if err == nil && len(fences) > 0 {
			err = c.withLock(ctx, d, fences...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFences drops the triggers of a move in both cells. It fails if a table is being read, and is tried again later: a waiting
// drop makes all others wait who use the table.
func (c *cells) removeFences(ctx context.Context) error {
	for _, side := range []map[string]*database{c.source, c.target} {
		for _, d := range side {
			drops, err := postgres.Select(ctx, d.Conn, "list fences", pgx.RowTo[string], selectFences,
				c.name(d), "DROP TRIGGER %2$I ON %1$s", true)
			if err != nil {
				return err
			}
			for _, drop := range append(drops, "DROP FUNCTION IF EXISTS "+quoted(c.name(d))) {
				if err := d.run(ctx, "remove fence", "BEGIN; "+dropLock+"; "+drop+"; COMMIT"); err != nil {
					_, _ = d.Exec(ctx, "ROLLBACK")
					return err
				}
			}
		}
	}
	return nil
}

const (
	selectRecorded = `SELECT coalesce(array_agg(event_id), '{}') FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`

	// An event is stored on the day when it was recorded or later; clocks differ by less than a day.
	countUnstored = `SELECT count(*) FROM unnest($1::uuid[]) AS e (id)
WHERE NOT EXISTS (SELECT FROM feed f WHERE f.event_id = e.id AND f.day >= current_date - 7)`

	selectRead = `SELECT coalesce(array_agg(kafka_partition ORDER BY kafka_partition), '{}'),
  coalesce(array_agg(next_offset ORDER BY kafka_partition), '{}') FROM `
)

// drain waits until the feed and the webhooks of the old cell have everything that was committed.
func (c *cells) drain(ctx context.Context) error {
	for _, name := range writers {
		d := c.source[name]
		if !d.outbox {
			continue
		}
		recorded, err := value[[]pgtype.UUID](ctx, d, selectRecorded, c.move.ID)
		if err != nil {
			return err
		}
		for len(recorded) > 0 {
			unstored, err := value[int](ctx, c.source[eventsDB], countUnstored, recorded)
			if err != nil {
				return err
			}
			if unstored == 0 {
				break
			}
			if err := sleep(ctx); err != nil {
				return err
			}
		}
	}
	stored, err := c.offsets(ctx, eventsDB, "feed_writers")
	for err == nil {
		var fannedOut map[int32]int64
		if fannedOut, err = c.offsets(ctx, webhookDB, "fan_out_offsets"); err != nil {
			break
		}
		behind := false
		for partition, next := range stored {
			behind = behind || fannedOut[partition] < next
		}
		if !behind {
			return nil
		}
		err = sleep(ctx)
	}
	return err
}

// offsets returns how far the partitions of the topic have been read.
func (c *cells) offsets(ctx context.Context, name, table string) (map[int32]int64, error) {
	var partitions []int32
	var next []int64
	if err := c.source[name].QueryRow(ctx, selectRead+table).Scan(&partitions, &next); err != nil {
		return nil, fmt.Errorf("read offsets of %s: %w", name, err)
	}
	read := map[int32]int64{}
	for i, p := range partitions {
		read[p] = next[i]
	}
	return read, nil
}

// unconfirmed reports whether the outboxes of the old cell still have rows of the tenant: the relay deletes them a few seconds
// after all readers have them.
func (c *cells) unconfirmed(ctx context.Context) (bool, error) {
	for _, name := range writers {
		if !c.source[name].outbox {
			continue
		}
		rows, err := value[bool](ctx, c.source[name],
			`SELECT EXISTS (SELECT FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL)`, c.move.ID)
		if err != nil || rows {
			return rows, err
		}
	}
	return false, nil
}

const selectLogEnd = `SELECT pg_current_wal_lsn()::text`

// catchUp waits until the new cell has everything that the old one has committed.
func (c *cells) catchUp(ctx context.Context) error {
	return c.each(all(), func(from, _ *database) error {
		end, err := value[string](ctx, from, selectLogEnd)
		if err != nil {
			return err
		}
		return awaitSlot(ctx, from, c.name(from), end)
	})
}

// awaitSlot waits until the reader of a slot has confirmed a place in the log.
func awaitSlot(ctx context.Context, from *database, slot, end string) error {
	for {
		done, err := value[bool](ctx, from, `SELECT coalesce((SELECT confirmed_flush_lsn >= $2::pg_lsn FROM pg_replication_slots
  WHERE slot_name = $1), false)`, slot, end)
		if done || err != nil {
			return err
		}
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}
