package moves

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	selectPublication  = `SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)`
	selectSlot         = `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)`
	selectSubscription = `SELECT EXISTS (SELECT FROM pg_subscription
  WHERE subname = $1 AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()))`

	createSlot = `SELECT pg_create_logical_replication_slot($1, 'pgoutput')`

	// Tables of a subscription are ready when their first copy has caught up with the changes.
	countTables = `SELECT count(*), count(*) FILTER (WHERE r.srsubstate = 'r')
FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid
WHERE s.subname = $1`

	// Without its slot, a copy is behind the whole log.
	selectLag = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(
  (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = $1), '0/0'))::bigint`
)

// copyRows begins to copy the rows of the tenant, if nothing does yet. The step is complete when all tables are copied, and the new
// cell is not far behind.
func (m *Mover) copyRows(ctx context.Context, c *cells) (next tenantsv1.MoveStep, p store.Progress, err error) {
	complete := true
	err = c.each(all(), func(from, to *database) error {
		subscribed, err := value[bool](ctx, to, selectSubscription, c.name(to))
		if err != nil {
			return err
		}
		if !subscribed {
			if err := c.requireRows(ctx, c.source, c.target); err != nil {
				return err
			}
		}
		if err := c.fenceArrival(ctx, to); err != nil {
			return err
		}
		if !subscribed {
			complete = false
			return c.subscribe(ctx, from, to)
		}
		if to.name == eventsDB {
			if err := c.ensureDays(ctx, from, to); err != nil {
				return err
			}
		}
		var tables, copied int
		if err := to.QueryRow(ctx, countTables, c.name(to)).Scan(&tables, &copied); err != nil {
			return fmt.Errorf("count copied tables: %w", err)
		}
		p.Tables, p.Copied = p.Tables+tables, p.Copied+copied
		behind, err := value[int64](ctx, from, selectLag, c.name(from))
		p.LagBytes += behind
		return err
	})
	if err != nil || !complete || p.Copied < p.Tables || p.LagBytes > maxLag {
		return store.Copying, p, err
	}
	// PostgreSQL reads new rows much more slowly the first time, for which changes of the tenant would wait.
	if err := c.readCopy(ctx); err != nil {
		return 0, p, err
	}
	return store.Pausing, p, nil
}

// maxLag is how far the new cell may be behind when the switch begins, in bytes of the log of the old one.
const maxLag = 4 << 20

// subscribe begins the copy of a database. What an earlier attempt has left in the new cell is erased before.
func (c *cells) subscribe(ctx context.Context, from, to *database) error {
	if err := c.eraseIn(ctx, to); err != nil {
		return err
	}
	if to.name == webhookDB {
		if err := to.run(ctx, "hold deliveries", holdDeliveries, c.move.ID, c.move.KeyIDs); err != nil {
			return err
		}
	}
	name := c.name(from)
	published, err := value[bool](ctx, from, selectPublication, name)
	if err != nil {
		return err
	}
	if !published {
		err := from.run(ctx, "publish rows", "CREATE PUBLICATION "+quoted(name)+" FOR TABLE "+c.published(from)+
			" WITH (publish_via_partition_root = true)")
		if err != nil {
			return err
		}
	}
	// Made here, because a subscription that makes its own slot waits for itself if both cells are on one server.
	slot, err := value[bool](ctx, from, selectSlot, name)
	if err != nil {
		return err
	}
	if !slot {
		if err := from.run(ctx, "create slot", createSlot, name); err != nil {
			return err
		}
	}
	if to.name == eventsDB {
		if err := c.ensureDays(ctx, from, to); err != nil {
			return err
		}
	}
	url := strings.ReplaceAll(c.urls.url(from.cell, from.name), "'", "''")
	return to.run(ctx, "subscribe", "CREATE SUBSCRIPTION "+quoted(name)+" CONNECTION '"+url+"' PUBLICATION "+quoted(name)+
		" WITH (create_slot = false, slot_name = '"+name+"')")
}

// published lists the rows of the tenant for a publication.
func (c *cells) published(d *database) string {
	var tables []string
	for _, t := range d.tables {
		tables = append(tables, quoted(t.name)+" WHERE ("+c.rows(t, "")+")")
	}
	return strings.Join(tables, ", ")
}

// ensureDays makes the partitions in the new cell that the events of the tenant need.
func (c *cells) ensureDays(ctx context.Context, from, to *database) error {
	const selectDays = `SELECT coalesce(array_agg(DISTINCT day), '{}') FROM feed WHERE tenant_id = $1`
	days, err := value[[]time.Time](ctx, from, selectDays, c.move.ID)
	if err != nil {
		return err
	}
	return to.run(ctx, "make partitions", `SELECT feed_ensure_day(d) FROM unnest($1::date[]) AS d`, days)
}

// endCopies ends what subscribe has begun.
func (c *cells) endCopies(ctx context.Context) error {
	return c.each(all(), func(from, to *database) error { return c.unsubscribe(ctx, from, to) })
}

// errSlotBusy means that a worker of PostgreSQL has not ended yet.
var errSlotBusy = errors.New("the slot is in use: trying again")

func (c *cells) unsubscribe(ctx context.Context, from, to *database) error {
	name := c.name(from)
	subscribed, err := value[bool](ctx, to, selectSubscription, name)
	if err != nil {
		return err
	}
	syncSlots := ""
	if subscribed {
		oid, err := value[uint32](ctx, to, `SELECT oid FROM pg_subscription WHERE subname = $1`, name)
		if err != nil {
			return err
		}
		syncSlots = fmt.Sprintf("pg_%d_sync_%%", oid)
		if err := to.run(ctx, "end subscription", "ALTER SUBSCRIPTION "+quoted(name)+" DISABLE"); err != nil {
			return err
		}
	}
	// The slots go first: only the subscription knows the names of those of its first copies.
	if err := c.dropSlots(ctx, from, name, syncSlots); err != nil {
		return err
	}
	if subscribed {
		for _, sql := range []string{
			"ALTER SUBSCRIPTION " + quoted(name) + " SET (slot_name = NONE)",
			"DROP SUBSCRIPTION " + quoted(name),
		} {
			if err := to.run(ctx, "end subscription", sql); err != nil {
				return err
			}
		}
	}
	return from.run(ctx, "end publication", "DROP PUBLICATION IF EXISTS "+quoted(name))
}

const (
	dropIdleSlots = `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
WHERE (slot_name = $1 OR $2 <> '' AND slot_name LIKE $2) AND NOT active`
	countSlots = `SELECT count(*) FROM pg_replication_slots WHERE slot_name = $1 OR $2 <> '' AND slot_name LIKE $2`
)

// dropSlots drops the slot of the subscription and those of its first copies. A slot is in use until its worker has ended.
func (c *cells) dropSlots(ctx context.Context, from *database, name, syncSlots string) error {
	for until := time.Now().Add(slotTime); ; {
		if err := from.run(ctx, "drop slot", dropIdleSlots, name, syncSlots); err != nil {
			return err
		}
		left, err := value[int](ctx, from, countSlots, name, syncSlots)
		if err != nil || left == 0 {
			return err
		}
		if time.Now().After(until) {
			return errSlotBusy
		}
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}

const (
	slotTime = 5 * time.Second
	// poll is how often a state is read that is awaited.
	poll = 20 * time.Millisecond
)

func sleep(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(poll):
		return nil
	}
}

// eraseRows erases the rows of the tenant in a cell, and checks that none is left. The other cell must have the tenant.
func (c *cells) eraseRows(ctx context.Context, side, other map[string]*database) error {
	if err := c.requireRows(ctx, other, side); err != nil {
		return err
	}
	for _, name := range all() {
		if err := c.eraseIn(ctx, side[name]); err != nil {
			return err
		}
	}
	return nil
}

// errOnlyRows means that the steps of the move do not fit what the cells have.
var errOnlyRows = errors.New("the rows that the move would erase are the only ones of the tenant: " +
	"was the database of the tenants service restored to a time during the move?")

// requireRows fails with errOnlyRows if only the cell that is to be erased has rows of the tenant.
func (c *cells) requireRows(ctx context.Context, kept, erased map[string]*database) error {
	found, err := c.anyRows(ctx, kept)
	if found || err != nil {
		return err
	}
	found, err = c.anyRows(ctx, erased)
	if err == nil && found {
		err = errOnlyRows
	}
	return err
}

func (c *cells) anyRows(ctx context.Context, side map[string]*database) (found bool, err error) {
	for _, d := range side {
		sql := "SELECT false"
		for _, t := range d.tables {
			sql += " OR EXISTS (SELECT FROM " + quoted(t.name) + " WHERE " + c.rows(t, "") + ")"
		}
		if found, err = value[bool](ctx, d, sql); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// errRowsLeft means that rows are still being written.
var errRowsLeft = errors.New("rows of the tenant are left")

// asApplyWorker makes a transaction write without ordinary triggers.
const asApplyWorker = `SET LOCAL session_replication_role = replica`

// eraseIn erases in the role of an apply worker, because audits refuse to be deleted otherwise. Each table has a transaction of its
// own, the small ones first: a row that is left makes workers fail that change rows of many tenants at once.
func (c *cells) eraseIn(ctx context.Context, d *database) error {
	tables := d.tables
	for _, name := range notCopied {
		exists, err := value[bool](ctx, d, `SELECT to_regclass($1) IS NOT NULL`, name)
		if err != nil {
			return err
		}
		if exists {
			tables = append(tables[:len(tables):len(tables)], table{name: name}) // The hold of deliveries goes last.
		}
	}
	left := "SELECT 0"
	for _, t := range tables {
		err := pgx.BeginFunc(ctx, d.Conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; "+asApplyWorker+"; DELETE FROM "+quoted(t.name)+" WHERE "+c.rows(t, ""))
			return err
		})
		if err != nil {
			return fmt.Errorf("erase rows in %s of cell %s: %w", d.name, d.cell, err)
		}
		left += " + (SELECT count(*) FROM " + quoted(t.name) + " WHERE " + c.rows(t, "") + ")"
	}
	rows, err := value[int64](ctx, d, left)
	if err == nil && rows > 0 {
		err = fmt.Errorf("%w: %d in %s of cell %s", errRowsLeft, rows, d.name, d.cell)
	}
	return err
}
