package fanout

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Config of a fan-out. All fields are needed.
type Config struct {
	Topic       string
	Environment string
	Store       *store.Store
	Directory   tenantsv1.DirectoryServiceClient
	// Stored is called after deliveries have been committed, with their keys.
	Stored func(keys []int32)
	Logger *slog.Logger
	Meter  metric.Meter
}

// FanOut handles the messages of the changes topic.
type FanOut struct {
	cfg           Config
	subscriptions *subscriptions
	rejected      metric.Int64Counter
}

// New makes a fan-out.
func New(cfg Config) (*FanOut, error) {
	rejected, err := cfg.Meter.Int64Counter("gifting.webhook.rejected_messages",
		metric.WithDescription("Messages of the changes topic that are no change."))
	if err != nil {
		return nil, fmt.Errorf("fan-out metrics: %w", err)
	}
	rejected.Add(context.Background(), 0) // The series is there before the first.
	return &FanOut{cfg: cfg, subscriptions: newSubscriptions(cfg.Directory), rejected: rejected}, nil
}

// Handle stores the deliveries of a batch of messages.
func (f *FanOut) Handle(ctx context.Context, partition int, msgs []kafka.Message) error {
	changes, rejected := f.read(ctx, partition, msgs)
	endpoints, err := f.subscriptions.of(ctx, changes)
	if err != nil {
		return err
	}
	events := make([]store.Event, 0, len(changes))
	var stored []int32
	for _, c := range changes {
		if keys := receivers(c, endpoints[c.GetTenantId()]); len(keys) > 0 {
			events = append(events, store.Event{
				TenantID: c.GetTenantId(), ID: c.GetEventId(), Type: c.GetType(), Body: c.body, KeyIDs: keys,
				TraceParent: c.traceParent,
			})
			stored = append(stored, keys...)
		}
	}
	if err := f.cfg.Store.FanOut(ctx, events, rejected); err != nil {
		return err
	}
	f.rejected.Add(ctx, int64(len(rejected)))
	if len(events) > 0 {
		f.cfg.Stored(stored)
	}
	return nil
}

// read gives the changes of the batch, each once, and the messages that are none.
func (f *FanOut) read(ctx context.Context, partition int, msgs []kafka.Message) ([]change, []store.Rejected) {
	changes := make([]change, 0, len(msgs))
	seen := make(map[string]struct{}, len(msgs))
	var rejected []store.Rejected
	for _, m := range msgs {
		c, err := decode(m.Value, f.cfg.Environment)
		if err != nil {
			f.cfg.Logger.ErrorContext(ctx, "message is no change, going on without it",
				"partition", partition, "offset", m.Offset, "error", err)
			rejected = append(rejected, store.Rejected{
				Topic: f.cfg.Topic, Partition: partition, Offset: m.Offset, Reason: err.Error(), Value: m.Value,
			})
			continue
		}
		if parent := kafka.TraceParent(m); telemetry.ParseTraceParent(parent).IsSampled() {
			c.traceParent = parent
		}
		if _, again := seen[c.GetEventId()]; !again {
			seen[c.GetEventId()] = struct{}{}
			changes = append(changes, c)
		}
	}
	return changes, rejected
}

func receivers(c change, list []*tenantsv1.EndpointSubscription) []int32 {
	var keys []int32
	for _, e := range list {
		if rules.Receives(e, c.Change) {
			keys = append(keys, e.GetKeyId())
		}
	}
	return keys
}
