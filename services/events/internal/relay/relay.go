package relay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Publisher writes messages in order, all of them or an error; package kafka provides it.
type Publisher interface {
	Publish(ctx context.Context, msgs []kafka.Message) error
}

const (
	firstBackoff = 50 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

var errNoSources = errors.New("relay has no sources")

// Relay publishes the outboxes while it leads.
type Relay struct {
	cfg       Config
	sources   []*source
	election  election
	publisher Publisher
	log       *slog.Logger
	metrics   *metrics
	wake      chan struct{}

	// Only tests change these: the first leaves out the rule that keeps the order across sources,
	// the second says when a source is read.
	withoutCut bool
	aroundRead func(ctx context.Context, source int, read func() error) error
}

// New makes a relay; lockURL is the database in which the leader is elected. It connects to
// nothing before Run.
func New(ctx context.Context, cfg Config, lockURL string, publisher Publisher, tel *telemetry.Telemetry) (*Relay, error) {
	if len(cfg.Sources) == 0 {
		return nil, errNoSources
	}
	r := &Relay{
		cfg: cfg.withDefaults(), publisher: publisher, log: tel.Logger, wake: make(chan struct{}, 1),
		election:   election{url: lockURL, log: tel.Logger},
		aroundRead: func(_ context.Context, _ int, read func() error) error { return read() },
	}
	sabotage(r)
	var err error
	if r.metrics, err = newMetrics(ctx, tel.Meters, cfg.Sources); err != nil {
		return nil, err
	}
	for _, s := range cfg.Sources {
		opened, err := openSource(ctx, s, tel)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.sources = append(r.sources, opened)
	}
	return r, nil
}

// Close ends the connections to the sources, after Run.
func (r *Relay) Close() {
	for _, s := range r.sources {
		s.pool.Close()
	}
}

// Wake tells the relay that there is work. It never waits, and many calls count as one.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run stands for election and publishes while it leads, until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	return r.election.run(ctx, r.lead)
}

// lead runs rounds until ctx, the time of leadership, ends.
func (r *Relay) lead(ctx context.Context) {
	r.metrics.lead(true)
	defer r.metrics.lead(false)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		r.listen(ctx)
	}()
	defer func() { <-listening }()
	backoff := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		published, err := r.round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.metrics.failures.Add(ctx, 1)
			r.log.ErrorContext(ctx, "relay cannot publish, trying again", "error", err, "wait", backoff)
			pause(ctx, backoff, nil)
			backoff = min(2*backoff, maxBackoff)
		default:
			backoff = firstBackoff
			if published == 0 {
				pause(ctx, r.cfg.PollInterval, r.wake)
			} else if published < r.cfg.BatchSize {
				pause(ctx, r.cfg.RoundInterval(published)-time.Since(began), nil)
			}
		}
	}
}

// pause waits for a time, an early call or the end.
func pause(ctx context.Context, d time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-early:
	}
}
