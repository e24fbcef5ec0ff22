package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Source is a database with an outbox.
type Source struct {
	Name string
	// URL of a login with the role gifting_relay.
	URL string
}

// Deps are what a relay works with.
type Deps struct {
	Publisher Publisher
	// Readers are the consumers that must have stored a change before it leaves its outbox.
	Readers   []Reader
	Telemetry *telemetry.Telemetry
}

// Config of the relay. All fields but Retention are required.
type Config struct {
	Sources []Source
	// LeaderURL is the database whose lock the leader holds.
	LeaderURL string
	// Retention is how long a change stays in its outbox after the readers have stored it.
	Retention time.Duration
	// ConfirmInterval is how often the relay asks what the readers have stored.
	ConfirmInterval time.Duration
	// PollInterval is how long an idle relay waits, unless it is woken, while it does not listen to all sources.
	PollInterval time.Duration
	// HeartbeatInterval is how long it waits otherwise. It is the most that a lost notification delays a change.
	HeartbeatInterval time.Duration
	// BatchInterval returns how long after the start of a batch of n rows the next one begins. It does not apply after a full batch.
	BatchInterval func(n int) time.Duration
	// BatchSize is the most rows that a batch takes from each source.
	BatchSize int
}

// Publisher writes messages in order. Topic implements it.
type Publisher interface {
	// Publish returns an error unless all messages were written, and sets their positions.
	Publish(ctx context.Context, msgs []kafka.Message) error
	// Message returns a message that was written, or kafka.ErrNoMessage.
	Message(ctx context.Context, partition int, offset int64) (kafka.Message, error)
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
	publisher Publisher
	readers   []Reader
	log       *slog.Logger
	metrics   *metrics
	wakeups   *wakeups

	// What follows is known only while this process leads. It is empty at first: all rows are read and published again.
	clock clock
	// windows and servers belong to the sources.
	windows []window
	servers []*server
	// clockOffsets are by the instance of the server.
	clockOffsets map[string]*clockOffset
	// messageClock is the clock that dates messages: 0 is that of the host, n that of source n-1.
	messageClock int
	outstanding  outstanding
	// resetRequested means that all rows are to be published again.
	resetRequested atomic.Bool
}

// New makes a relay. It does not connect before Run.
func New(ctx context.Context, deps Deps, cfg Config) (*Relay, error) {
	if len(cfg.Sources) == 0 {
		return nil, errNoSources
	}
	tel := deps.Telemetry
	r := &Relay{
		cfg: cfg, publisher: deps.Publisher, readers: deps.Readers, log: tel.Logger, wakeups: newWakeups(len(cfg.Sources)),
	}
	var err error
	if r.metrics, err = newMetrics(ctx, tel.Meters, cfg.Sources, r.outstanding.age); err != nil {
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
	r.reset()
	return r, nil
}

// reset forgets what was published, so that the next batch begins with the oldest row of each outbox. The relay's own clock
// starts again with the time of its host.
func (r *Relay) reset() {
	r.clock, r.clockOffsets, r.messageClock = startClock(), map[string]*clockOffset{}, 0
	r.windows, r.servers = make([]window, len(r.sources)), make([]*server, len(r.sources))
	r.outstanding.reset(len(r.sources))
}

// forget begins again with a source whose server was restarted or replaced: its ids may belong to other rows now.
func (r *Relay) forget(source int, found *server) {
	if r.servers[source] != nil {
		r.log.Warn("the server of a source was restarted or replaced, publishing again what is in its outbox",
			"source", r.sources[source].name)
		r.outstanding.forget(source)
	}
	r.windows[source], r.servers[source] = window{}, found
}

// Close ends the connections to the sources, after Run.
func (r *Relay) Close() {
	for _, s := range r.sources {
		s.pool.Close()
	}
}

// Wake notifies the relay of work. It never waits, and many calls count as one.
func (r *Relay) Wake() { r.wakeups.wake() }

// Run campaigns for leadership, and publishes while it leads, until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	return campaign{url: r.cfg.LeaderURL, log: r.log}.run(ctx, r.lead)
}

// lead publishes batch after batch until its leadership, and with it ctx, ends.
func (r *Relay) lead(ctx context.Context) {
	r.reset()
	r.metrics.lead(true)
	defer r.metrics.lead(false)
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { r.listen(ctx) })
	background.Go(func() { r.confirmRows(ctx) })
	backoff := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		done, err := r.publishBatch(ctx)
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
			r.await(ctx, done, began)
		}
	}
}

// await returns when the next batch is due.
func (r *Relay) await(ctx context.Context, done outcome, began time.Time) {
	if done.full && done.published >= r.cfg.BatchSize {
		return
	}
	if done.published > 0 || done.full || done.held {
		pause(ctx, time.Until(began.Add(r.cfg.BatchInterval(done.published))), nil)
	}
	if !done.full && !done.held {
		pause(ctx, r.wakeups.interval(r.cfg), r.wakeups.due)
	}
}

// pause returns after d, or early when ctx ends or wake receives.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
}
