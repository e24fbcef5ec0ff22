// Package ringcheck finds out whether the ring of seal keys opens what the database holds. With a wrong or incomplete ring a
// service would take orders that it cannot read back.
//
// At the start, and then periodically, the check lists the ids of the keys that sealed the values of each column, and opens
// some values of each. Until it has found every key once, the service is not ready and Hold keeps its server closed. So a rollout
// with a wrong ring stops at its first instance, while those with the right ring go on. A key that is missing later, such as
// after a restore, does not stop a service that serves: it is logged and counted, and an alert fires.
//
// A check that fails, such as at its time limit, says nothing about the ring and keeps no service from starting.
package ringcheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Reasons why a service is not ready.
var (
	ErrMissing = errors.New("the ring lacks the key: append it to GIFTING_SEAL_KEYS")
	ErrWrong   = errors.New("the ring has other bytes for the key: correct the key of this id in GIFTING_SEAL_KEYS")
)

const (
	// interval of the check. It reads a few rows by index.
	interval = 15 * time.Second
	timeout  = 10 * time.Second
)

// Check compares a ring with a database. It is safe for concurrent use.
type Check struct {
	pool   *pgxpool.Pool
	ring   *seal.Ring
	tables []reencrypt.Table
	tel    *telemetry.Telemetry
	// opened is closed when the service may serve.
	opened chan struct{}

	mu       sync.Mutex
	unusable []problem
}

// problem is a key that the ring cannot use, but a column needs.
type problem struct {
	column, keyID string
	// reason is ErrMissing or ErrWrong.
	reason error
}

func (p problem) Error() string {
	return fmt.Sprintf("%s has values sealed with key %q, but %s", p.column, p.keyID, p.reason)
}

func (p problem) Unwrap() error { return p.reason }

// New checks the sealed columns of the tables for the first time. It also counts the values that the ring cannot open in use.
func New(
	ctx context.Context, pool *pgxpool.Pool, ring *seal.Ring, tel *telemetry.Telemetry, tables ...reencrypt.Table,
) (*Check, error) {
	c := &Check{pool: pool, ring: ring, tables: tables, tel: tel, opened: make(chan struct{})}
	if err := c.observe(); err != nil {
		return nil, fmt.Errorf("metrics of seal keys: %w", err)
	}
	if err := c.Run(ctx); err != nil {
		tel.Logger.WarnContext(ctx, "cannot say whether the seal keys are complete", "error", err)
	}
	return c, nil
}

// Part checks the ring periodically.
func (c *Check) Part() daemon.Part {
	return daemon.Every("seal keys", interval, c.tel, c.Run)
}

// Ready returns an error that names each key that is missing or wrong, until the ring was whole once.
func (c *Check) Ready(context.Context) error {
	select {
	case <-c.opened:
		return nil
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return joined(c.unusable)
}

// Hold starts the part only when the service may serve.
func (c *Check) Hold(part daemon.Part) daemon.Part {
	run := part.Run
	part.Run = func(ctx context.Context) error {
		select {
		case <-c.opened:
			return run(ctx)
		case <-ctx.Done():
			return nil
		}
	}
	return part
}

// Run checks the ring once.
func (c *Check) Run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := c.find(limited)
	if err != nil {
		if len(c.current()) == 0 {
			c.open()
		}
		return fmt.Errorf("check seal keys: %w", err)
	}
	c.log(ctx, c.replace(found), found)
	if len(found) == 0 {
		c.open()
	}
	return nil
}

func (c *Check) current() []problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unusable
}

func (c *Check) replace(found []problem) (before []problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.unusable = c.unusable, found
	return before
}

// open lets the service serve. Only Run calls it, which never runs twice at once: New calls it before Part.
func (c *Check) open() {
	select {
	case <-c.opened:
	default:
		close(c.opened)
	}
}

// log reports what has changed.
func (c *Check) log(ctx context.Context, before, found []problem) {
	for _, p := range found {
		if !slices.Contains(before, p) {
			c.tel.Logger.LogAttrs(ctx, slog.LevelError, "a seal key is missing or wrong",
				slog.String("column", p.column), slog.String("seal_key_id", p.keyID), slog.String("error", p.Error()))
		}
	}
	if len(before) > 0 && len(found) == 0 {
		c.tel.Logger.InfoContext(ctx, "all seal keys that the database needs are in the ring")
	}
}

func joined(problems []problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return &list{errors.Join(errs...)}
}

// list is shown on one line, as logs and probes need it.
type list struct{ error }

func (l *list) Error() string { return strings.ReplaceAll(l.error.Error(), "\n", "; ") }
func (l *list) Unwrap() error { return l.error }
