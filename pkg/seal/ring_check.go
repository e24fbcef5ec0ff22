package seal

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
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Reasons why a service is not ready.
var (
	ErrKeyMissing = errors.New("the ring lacks the key: append it to")
	ErrKeyWrong   = errors.New("the ring has other bytes for the key: correct the key of this id in")
)

const (
	// interval of the check. It reads a few rows by index, in a transaction for each column.
	interval         = time.Minute
	timeout          = 10 * time.Second
	statementTimeout = 5 * time.Second
)

// RingCheck finds out whether rings of keys open what a database holds: it lists the ids of the keys that sealed the values of each
// column, and opens some values of each. Until it has found every key once, the service is not ready and Hold keeps its server
// closed. So a rollout with a wrong ring, which could not read back what it stores, stops at its first instance. A key that is
// missing later does not stop a service that serves: it is logged and counted. A check that fails says nothing about the ring and
// keeps no service from starting.
type RingCheck struct {
	pool  *pgxpool.Pool
	rings []CheckedRing
	tel   *telemetry.Telemetry
	// opened is closed when the service may serve.
	opened chan struct{}

	mu   sync.Mutex
	last checkResult
}

// unusableKeyError is a key that a column needs, but the ring cannot use.
type unusableKeyError struct {
	keyUse
	setting string
	// reason is ErrKeyMissing or ErrKeyWrong.
	reason error
}

func (p unusableKeyError) Error() string {
	return fmt.Sprintf("%s has values sealed with key %q, but %s %s", p.column, p.keyID, p.reason, p.setting)
}

func (p unusableKeyError) Unwrap() error { return p.reason }

// NewRingCheck checks the rings for the first time. It also lets each ring of seal keys count the values that it cannot open later.
func NewRingCheck(ctx context.Context, pool *pgxpool.Pool, tel *telemetry.Telemetry, rings ...CheckedRing) (*RingCheck, error) {
	c := &RingCheck{pool: pool, rings: rings, tel: tel, opened: make(chan struct{})}
	if err := c.observe(); err != nil {
		return nil, fmt.Errorf("metrics of seal keys: %w", err)
	}
	if err := c.Run(ctx); err != nil {
		tel.Logger.WarnContext(ctx, "cannot say whether the seal keys are complete", "error", err)
	}
	return c, nil
}

// Part checks the ring periodically.
func (c *RingCheck) Part() daemon.Part {
	return daemon.Every("seal keys", interval, c.tel, c.Run)
}

// Ready returns an error that names each key that is missing or wrong, until the ring was whole once.
func (c *RingCheck) Ready(context.Context) error {
	select {
	case <-c.opened:
		return nil
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last.unusable) == 0 {
		return nil
	}
	return joined(c.last.unusable)
}

// Hold starts the part only when the service may serve.
func (c *RingCheck) Hold(part daemon.Part) daemon.Part {
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
func (c *RingCheck) Run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	now, err := findKeys(limited, c.pool, statementTimeout, c.rings...)
	before := c.replace(now, err == nil)
	c.log(ctx, before.unusable, now.unusable, err == nil)
	if len(c.current().unusable) == 0 {
		c.open()
	}
	if err != nil {
		return fmt.Errorf("check seal keys: %w", err)
	}
	return nil
}

func (c *RingCheck) current() checkResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// replace stores what a check has seen. If it is not complete, what was seen before may still be true.
func (c *RingCheck) replace(now checkResult, complete bool) (before checkResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.last
	if now.complete = complete; !complete {
		now = checkResult{uses: union(before.uses, now.uses), unusable: union(before.unusable, now.unusable)}
	}
	c.last = now
	return before
}

func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// open lets the service serve. Only Run calls it, which never runs twice at once: NewRingCheck calls it before Part.
func (c *RingCheck) open() {
	select {
	case <-c.opened:
	default:
		close(c.opened)
	}
}

// log reports what has changed.
func (c *RingCheck) log(ctx context.Context, before, now []unusableKeyError, complete bool) {
	for _, p := range now {
		if !slices.Contains(before, p) {
			c.tel.Logger.LogAttrs(ctx, slog.LevelError, "a seal key is missing or wrong",
				slog.String("column", p.column), slog.String("seal_key_id", p.keyID), slog.String("error", p.Error()))
		}
	}
	if complete && len(before) > 0 && len(now) == 0 {
		c.tel.Logger.InfoContext(ctx, "all seal keys that the database needs are in the ring")
	}
}

func joined(keys []unusableKeyError) error {
	errs := make([]error, len(keys))
	for i, p := range keys {
		errs[i] = p
	}
	return &oneLineError{errors.Join(errs...)}
}

// oneLineError is shown on one line, as logs and probes need it.
type oneLineError struct{ error }

func (e *oneLineError) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e *oneLineError) Unwrap() error { return e.error }
