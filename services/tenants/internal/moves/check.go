package moves

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// UnreadyError says in English why a cell cannot take part in a move.
type UnreadyError struct{ Reason string }

// Error implements error.
func (e *UnreadyError) Error() string { return e.Reason }

func unready(format string, args ...any) error {
	return &UnreadyError{Reason: fmt.Sprintf(format, args...)}
}

// Check returns an *UnreadyError if a move could not succeed.
func (m *Mover) Check(ctx context.Context, move store.Move) error {
	c := &cells{move: &move, urls: m.deps.Databases, source: map[string]*database{}, target: map[string]*database{}}
	defer c.disconnect()
	err := errors.Join(c.connect(ctx, move.From, c.source), c.connect(ctx, move.To, c.target))
	if errors.Is(err, errNoDatabase) {
		return unready("%s", err.Error())
	}
	if err != nil {
		return unready("a database does not answer: %s", err.Error())
	}
	for _, name := range all() {
		if err := checkPair(ctx, c.source[name], c.target[name]); err != nil {
			return err
		}
	}
	if move.To == identity.HomeCell {
		return nil
	}
	return hasGifts(ctx, c.target[catalogDB], move.To)
}

func checkPair(ctx context.Context, from, to *database) error {
	level, err := value[string](ctx, from, `SHOW wal_level`)
	if err != nil {
		return err
	}
	if level != "logical" {
		return unready("%s of cell %s: wal_level is %s, not logical", from.name, from.cell, level)
	}
	slots, err := value[bool](ctx, from,
		`SELECT count(*) + 2 * 5 <= current_setting('max_replication_slots')::int FROM pg_replication_slots`)
	if err != nil {
		return err
	}
	if !slots {
		return unready("%s of cell %s: max_replication_slots leaves fewer than 10 slots", from.name, from.cell)
	}
	workers, err := value[int](ctx, to, `SELECT current_setting('max_logical_replication_workers')::int`)
	if err != nil {
		return err
	}
	if workers < minWorkers {
		return unready("%s of cell %s: max_logical_replication_workers is %d, not at least %d", to.name, to.cell, workers, minWorkers)
	}
	for _, t := range from.tables {
		if !to.has(t) {
			return unready("table %s.%s is not the same in both cells: run the migrations of the same release in both", from.name, t.name)
		}
	}
	if len(from.tables) != len(to.tables) {
		return unready("%s has more tables in cell %s than in cell %s", to.name, to.cell, from.cell)
	}
	return nil
}

// minWorkers are one for each database of a move, one for the gifts, and two for first copies.
const minWorkers = 8

// has reports whether the database has the same table.
func (d *database) has(wanted table) bool {
	for _, t := range d.tables {
		if t.name == wanted.name {
			return t.columns == wanted.columns
		}
	}
	return false
}
