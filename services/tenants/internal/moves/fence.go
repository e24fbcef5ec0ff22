package moves

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// A sender does not claim what is paused. Every attempt moves the end ahead, and a worker that never comes back holds webhooks for a
	// minute.
	pauseKeys = `INSERT INTO pauses (tenant_id, key_id, until)
SELECT $1, id, clock_timestamp() + interval '1 minute' FROM unnest($2::int[]) AS id
ON CONFLICT (tenant_id, key_id) DO UPDATE SET until = excluded.until`

	resumeKeys = `DELETE FROM pauses WHERE tenant_id = $1`

	// The lease of a sender that died ends by itself.
	countSending = `SELECT count(*) FROM deliveries
WHERE tenant_id = $1 AND key_id = ANY($2::int[]) AND lease_token IS NOT NULL AND next_attempt_at > clock_timestamp()`
)

// pause makes the webhooks of the tenant wait. The step is complete when none is being sent. If the tenant has new keys, the copy begins
// again: their rows are not in it.
func (m *Mover) pause(ctx context.Context, c *cells, move *store.Move) (next tenantsv1.MoveStep, err error) {
	changed, err := m.deps.Store.MoveKeys(ctx, move)
	if err != nil {
		return 0, err
	}
	if changed {
		if err := errors.Join(c.endCopies(ctx), m.resume(ctx, c)); err != nil {
			return 0, err
		}
		return store.Copying, nil
	}
	webhook := c.source[webhookDB]
	if err := webhook.run(ctx, "pause webhooks", pauseKeys, move.ID, move.KeyIDs); err != nil {
		return 0, err
	}
	sending, err := value[int](ctx, webhook, countSending, move.ID, move.KeyIDs)
	if err != nil || sending > 0 {
		return store.Pausing, err
	}
	return store.Switching, nil
}

// resume lets the webhooks of the tenant go on in the old cell.
func (m *Mover) resume(ctx context.Context, c *cells) error {
	return c.source[webhookDB].run(ctx, "resume webhooks", resumeKeys, c.move.ID)
}

const (
	// Class 57 is that of an operator's intervention: services answer it with service_unavailable.
	fenceFunction = `CREATE OR REPLACE FUNCTION gifting_tenant_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the tenant is being moved to another cell' USING ERRCODE = '57G01';
END
$$`

	// A trigger waits for the transactions that write to its table, and those that follow wait for it: so it must not wait for long.
	fenceLock = `SET LOCAL lock_timeout = '200ms'`

	hasTrigger = `SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = $1 AND tgrelid = $2::regclass)`
)

// unfenced are tables that retention writes for all tenants at once. A dropped day of the feed changes nothing that a reader could see.
var unfenced = []string{"feed_tenants", "feed_dropped"}

// fence makes the old cell refuse changes of the tenant in the databases. Then no transaction that changes it is in progress there. Rows
// may still be deleted: what retention deletes here, it deletes in the new cell.
func (c *cells) fence(ctx context.Context, names []string) error {
	for _, name := range names {
		d := c.source[name]
		if err := d.run(ctx, "make fence", fenceFunction); err != nil {
			return err
		}
		for _, t := range d.tables {
			if err := c.fenceTable(ctx, d, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cells) fenceTable(ctx context.Context, d *database, t table) error {
	for _, name := range unfenced {
		if t.name == name {
			return nil
		}
	}
	events := "INSERT OR UPDATE"
	if t.name == "feed" {
		events = "UPDATE" // Its writer stores the events of many tenants at once, and none of this one arrives any more.
	}
	sql := "CREATE TRIGGER " + quoted(c.name(d)) + " BEFORE " + events + " ON " + quoted(t.name) + " FOR EACH ROW WHEN (" +
		c.rows(t, "NEW.") + ") EXECUTE FUNCTION gifting_tenant_moves()"
	exists, err := value[bool](ctx, d, hasTrigger, c.name(d), t.name)
	for err == nil && !exists {
		err = c.withLock(ctx, d, sql)
		exists = err == nil
		if postgres.State(err) == lockNotAvailable {
			err = sleep(ctx, poll)
		}
	}
	if err != nil {
		return fmt.Errorf("fence %s: %w", t.name, err)
	}
	return nil
}

// lockNotAvailable is the SQLSTATE of a statement that has waited for lock_timeout.
const lockNotAvailable = "55P03"

func (c *cells) withLock(ctx context.Context, d *database, sql string) error {
	return pgx.BeginFunc(ctx, d.Conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fenceLock); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql)
		return err
	})
}

const selectFences = `SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = $1 AND tgparentid = 0`

// unfence lets the old cell change the tenant again, or the next one that has its rows.
func (c *cells) unfence(ctx context.Context) error {
	for _, d := range c.source {
		fenced, err := postgres.Select(ctx, d.Conn, "list fences", pgx.RowTo[string], selectFences, c.name(d))
		for _, t := range fenced {
			for dropped := false; err == nil && !dropped; {
				err = c.withLock(ctx, d, "DROP TRIGGER IF EXISTS "+quoted(c.name(d))+" ON "+t)
				dropped = err == nil
				if postgres.State(err) == lockNotAvailable {
					err = sleep(ctx, poll)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("unfence %s of cell %s: %w", d.name, d.cell, err)
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
		exists, err := value[bool](ctx, d, `SELECT to_regclass('outbox') IS NOT NULL`)
		if err != nil {
			return err
		}
		if !exists {
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
			if err := sleep(ctx, poll); err != nil {
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
		err = sleep(ctx, poll)
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

// unconfirmed reports whether the outboxes of the old cell still have rows of the tenant: the relay deletes them a few seconds after
// all readers have them.
func (c *cells) unconfirmed(ctx context.Context) (bool, error) {
	for _, name := range writers {
		rows, err := value[bool](ctx, c.source[name], `SELECT to_regclass('outbox') IS NOT NULL`)
		if err == nil && rows {
			rows, err = value[bool](ctx, c.source[name],
				`SELECT EXISTS (SELECT FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL)`, c.move.ID)
		}
		if err != nil || rows {
			return rows, err
		}
	}
	return false, nil
}

const selectLogEnd = `SELECT pg_current_wal_lsn()::text`

// catchUp waits until the new cell has everything that the old one has committed.
func (c *cells) catchUp(ctx context.Context) error {
	return c.each(all(), func(from, to *database) error {
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
		if err := sleep(ctx, poll); err != nil {
			return err
		}
	}
}
