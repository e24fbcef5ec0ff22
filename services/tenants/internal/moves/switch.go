package moves

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// errDiffers means that the cells do not have the same rows.
var errDiffers = errors.New("the cells differ")

// switchCell switches the tenant to the new cell. Everything before the switch itself may be repeated.
func (m *Mover) switchCell(ctx context.Context, c *cells, move *store.Move) error {
	within, cancel := context.WithTimeout(ctx, fenceTime)
	defer cancel()
	began := time.Now()
	if err := c.fence(within, writers); err != nil {
		return err
	}
	if err := c.drain(within); err != nil {
		return fmt.Errorf("wait for feed and webhooks: %w", err)
	}
	if err := c.fence(within, readers); err != nil {
		return err
	}
	if err := c.catchUp(within); err != nil {
		return fmt.Errorf("wait for the new cell: %w", err)
	}
	if err := m.awaitGifts(within, c); err != nil {
		return fmt.Errorf("wait for the gifts of the new cell: %w", err)
	}
	if err := c.carryLate(within); err != nil {
		return err
	}
	size, err := c.compare(within)
	if err != nil {
		return err
	}
	if err := c.carry(within); err != nil {
		return err
	}
	if err := c.close(within); err != nil {
		return err
	}
	// From here on the tenant may be in the new cell, so nothing may end what follows early.
	committing, stop := context.WithTimeout(context.WithoutCancel(ctx), fenceTime)
	defer stop()
	version, err := m.deps.Store.SwitchCell(committing, move, size, time.Since(began))
	if err != nil {
		return err
	}
	m.deps.Log.InfoContext(ctx, "tenant switched", "tenant_id", move.ID, "from", move.From, "to", move.To, "rows", size.Rows,
		"pause", time.Since(began))
	if err := m.deps.Publisher.Publish(ctx, move.ID, version); err != nil {
		m.deps.Log.WarnContext(ctx, "the next step publishes the switch", "tenant_id", move.ID, "error", err)
	}
	return nil
}

// compare compares the rows of the tenant in all tables of both cells, and returns how many there are and their size in bytes.
func (c *cells) compare(ctx context.Context) (size store.Size, err error) {
	dropped, err := c.dropped(ctx)
	if err != nil {
		return size, err
	}
	sizes := make([]store.Size, len(all()))
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range all() {
		group.Go(func() error {
			from, to := c.source[name], c.target[name]
			for _, t := range from.tables {
				where := c.rows(t, "t.")
				switch t.name {
				case feed:
					where += fmt.Sprintf(" AND t.position > %d", dropped)
				case feedDropped:
					continue // Both cells note what they drop; the greater position counts.
				}
				here, err := checksum(ctx, from, t, where)
				if err != nil {
					return err
				}
				there, err := checksum(ctx, to, t, where)
				if err != nil {
					return err
				}
				if here.size.Rows != there.size.Rows || here.sum != there.sum {
					return fmt.Errorf("%w: %s.%s has %d rows in cell %s and %d in cell %s",
						errDiffers, name, t.name, here.size.Rows, from.cell, there.size.Rows, to.cell)
				}
				sizes[i].Rows += here.size.Rows
				sizes[i].Bytes += here.size.Bytes
			}
			return nil
		})
	}
	err = group.Wait()
	for _, s := range sizes {
		size.Rows += s.Rows
		size.Bytes += s.Bytes
	}
	return size, err
}

// readCopy reads all rows of the tenant in the new cell.
func (c *cells) readCopy(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, d := range c.target {
		group.Go(func() error {
			for _, t := range d.tables {
				if _, err := checksum(ctx, d, t, c.rows(t, "t.")); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// feedDropped is the table of the newest event of each tenant that retention has dropped.
const feedDropped = "feed_dropped"

// dropped is the position up to which one of the cells may have dropped events: each drops old days by itself, at its own time.
func (c *cells) dropped(ctx context.Context) (position int64, err error) {
	for _, side := range []map[string]*database{c.source, c.target} {
		p, err := value[int64](ctx, side[eventsDB],
			`SELECT coalesce((SELECT position FROM feed_dropped WHERE tenant_id = $1), 0)`, c.move.ID)
		if err != nil {
			return 0, err
		}
		position = max(position, p)
	}
	return position, nil
}

// contents are the rows of a table, and the sum of their hashes.
type contents struct {
	size store.Size
	sum  string
}

func checksum(ctx context.Context, d *database, t table, where string) (found contents, err error) {
	sql := "SELECT count(*), coalesce(sum(pg_column_size(t)), 0), coalesce(sum(hash_record_extended(t, 0)), 0)::text FROM " +
		quoted(t.name) + " t WHERE " + where
	if err := d.QueryRow(ctx, sql).Scan(&found.size.Rows, &found.size.Bytes, &found.sum); err != nil {
		return found, fmt.Errorf("compare %s.%s of cell %s: %w", d.name, t.name, d.cell, err)
	}
	return found, nil
}

// carryLate copies the rows of keys that were made after the copy began, as far as the new cell does not have them.
func (c *cells) carryLate(ctx context.Context) error {
	if len(c.move.Late) == 0 {
		return nil
	}
	return c.each(all(), func(from, to *database) error {
		for _, t := range from.tables {
			if !t.byKey {
				continue
			}
			name := quoted(t.name)
			rows, err := value[string](ctx, from, "SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM "+name+
				" t WHERE key_id = ANY($1::int[])", c.move.Late)
			if err != nil {
				return err
			}
			err = pgx.BeginFunc(ctx, to.Conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, asApplyWorker); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "INSERT INTO "+name+" SELECT * FROM jsonb_populate_recordset(NULL::"+name+
					", $1::jsonb) ON CONFLICT DO NOTHING", rows)
				return err
			})
			if err != nil {
				return fmt.Errorf("carry rows of new keys to %s: %w", to.cell, err)
			}
		}
		return nil
	})
}

// carry makes the sequences of the new cell go on after the values of the tenant's rows, so that later rows sort after them, and
// carries the epochs of the feed's cursors and the pictures of brands.
func (c *cells) carry(ctx context.Context) error {
	err := c.each(all(), func(from, to *database) error {
		for _, t := range from.tables {
			if t.identity != "" {
				if err := c.passSequence(ctx, from, to, t); err != nil {
					return err
				}
			}
			if t.pictures {
				if err := c.carryPictures(ctx, from, to, t); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.carryFeed(ctx)
}

func (c *cells) passSequence(ctx context.Context, from, to *database, t table) error {
	highest, err := value[int64](ctx, from,
		"SELECT coalesce(max("+quoted(t.identity)+"), 0)::bigint FROM "+quoted(t.name)+" WHERE "+c.rows(t, ""))
	if err != nil || highest == 0 {
		return err
	}
	last, err := value[int64](ctx, to, `SELECT nextval(pg_get_serial_sequence($1, $2))`, t.name, t.identity)
	if err != nil || last > highest {
		return err
	}
	// Other tenants may take values meanwhile, and the sequence must not go back.
	return to.run(ctx, "set sequence", `SELECT setval(pg_get_serial_sequence($1, $2), $3)`, t.name, t.identity, highest+sequenceMargin)
}

// sequenceMargin is more than the values that a sequence hands out between two statements.
const sequenceMargin = 10_000

// carryFeed carries positions and epochs: a cursor names the epoch of the cell in which it was made.
func (c *cells) carryFeed(ctx context.Context) error {
	var last *int64
	var day *time.Time
	var epochs, survived []int64
	err := c.source[eventsDB].QueryRow(ctx, `SELECT * FROM move_feed_out($1)`, c.move.ID).Scan(&last, &day, &epochs, &survived)
	if err != nil {
		return fmt.Errorf("read epochs of the feed: %w", err)
	}
	return c.target[eventsDB].run(ctx, "carry epochs", `SELECT move_feed_in($1, $2, $3, $4, $5)`,
		c.move.ID, last, day, epochs, survived)
}

// carryPictures copies what the new cell does not know of the pictures that rows of the tenant name. Their files are in the one
// store.
func (c *cells) carryPictures(ctx context.Context, from, to *database, t table) error {
	const pictures = `SELECT coalesce(jsonb_agg(to_jsonb(i)), '[]') FROM images i WHERE i.file_id IN (
  WITH named AS (SELECT file_id FROM `
	const renditions = `SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM image_renditions r
WHERE r.original IN (SELECT file_id FROM `
	where := quoted(t.name) + " WHERE " + c.rows(t, "") + ")"
	files, err := value[string](ctx, from, pictures+where+
		" SELECT file_id FROM named UNION SELECT r.file_id FROM image_renditions r JOIN named n ON n.file_id = r.original)")
	if err != nil {
		return err
	}
	smaller, err := value[string](ctx, from, renditions+where)
	if err != nil {
		return err
	}
	err = to.run(ctx, "carry pictures",
		`INSERT INTO images SELECT * FROM jsonb_populate_recordset(NULL::images, $1::jsonb) ON CONFLICT DO NOTHING`, files)
	if err != nil {
		return err
	}
	return to.run(ctx, "carry pictures", `INSERT INTO image_renditions
SELECT * FROM jsonb_populate_recordset(NULL::image_renditions, $1::jsonb) ON CONFLICT DO NOTHING`, smaller)
}

// awaitGifts waits until a cell that has only a copy of the gifts has those that were put until now.
func (m *Mover) awaitGifts(ctx context.Context, c *cells) error {
	if c.move.To == identity.HomeCell {
		return nil
	}
	home, err := m.deps.Databases.open(ctx, identity.HomeCell, catalogDB)
	if err != nil {
		return err
	}
	d := &database{Conn: home, name: catalogDB, cell: identity.HomeCell}
	defer func() { _ = d.Close(context.WithoutCancel(ctx)) }()
	end, err := value[string](ctx, d, selectLogEnd)
	if err != nil {
		return err
	}
	return awaitSlot(ctx, d, giftsSlot(c.move.To), end)
}
