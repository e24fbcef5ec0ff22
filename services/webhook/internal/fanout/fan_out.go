package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const scope = "github.com/partnergifting/platform/services/webhook"

// Deps are what a fan-out works with.
type Deps struct {
	Store     *store.Store
	Directory tenantsv1.DirectoryServiceClient
	// Stored is called after deliveries have been committed, with their endpoints.
	Stored    func(due []store.Due)
	Telemetry *telemetry.Telemetry
}

// Config of a fan-out. All fields are required.
type Config struct {
	Topic       string
	Environment string
}

// FanOut handles the messages of the changes topic.
type FanOut struct {
	cfg           Config
	store         *store.Store
	stored        func(due []store.Due)
	log           *slog.Logger
	subscriptions *subscriptions
	rejected      metric.Int64Counter
}

// New makes a fan-out.
func New(deps Deps, cfg Config) (*FanOut, error) {
	rejected, err := deps.Telemetry.Meters.Meter(scope).Int64Counter("gifting.webhook.rejected_messages",
		metric.WithDescription("Messages of the changes topic that are not valid changes."))
	if err != nil {
		return nil, err
	}
	rejected.Add(context.Background(), 0) // The series exists before its first event.
	return &FanOut{
		cfg: cfg, store: deps.Store, stored: deps.Stored, log: deps.Telemetry.Logger,
		subscriptions: newSubscriptions(deps.Directory), rejected: rejected,
	}, nil
}

// Handle stores the deliveries of a batch of messages.
func (f *FanOut) Handle(ctx context.Context, partition int, msgs []kafka.Message) error {
	changes, rejected := f.read(ctx, partition, msgs)
	events, err := f.eventsOf(ctx, changes)
	if err != nil {
		return err
	}
	last := msgs[len(msgs)-1]
	stored := store.Messages{
		Partition: partition, First: msgs[0].Offset, Next: last.Offset + 1, LastID: EventID(last), LastTime: last.Time,
	}
	due, err := f.store.FanOutMessages(ctx, stored, events, rejected)
	if err != nil {
		return err
	}
	f.rejected.Add(ctx, int64(len(rejected)))
	if len(due) > 0 {
		f.stored(due)
	}
	return nil
}

// EventID returns the id of the event of a message, or nothing if it is not a change.
func EventID(m kafka.Message) string {
	var c eventsv1.Change
	if proto.Unmarshal(m.Value, &c) != nil {
		return ""
	}
	return c.GetEventId()
}

// read returns the valid changes of the batch, each once, and the other messages.
func (f *FanOut) read(ctx context.Context, partition int, msgs []kafka.Message) ([]change, []store.Rejected) {
	changes := make([]change, 0, len(msgs))
	seen := make(map[string]struct{}, len(msgs))
	var rejected []store.Rejected
	for _, m := range msgs {
		c, err := decode(m.Value, f.cfg.Environment)
		if err != nil {
			f.log.ErrorContext(ctx, "message is not a valid change, skipping it",
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

// change is a valid Change with the body of its deliveries.
type change struct {
	*eventsv1.Change
	body []byte
	// traceParent is the recorded trace of the change, or empty.
	traceParent string
}

var (
	errBadID   = errors.New("an id is not a UUID")
	errNoType  = errors.New("the type is missing or not text")
	errBadTime = errors.New("the time is missing or out of range")
	errBadData = errors.New("the data is not JSON")
)

// decode reads a message and makes the envelope, the same bytes as in the feed.
func decode(value []byte, environment string) (change, error) {
	c := &eventsv1.Change{}
	if err := proto.Unmarshal(value, c); err != nil {
		return change{}, fmt.Errorf("not a change: %w", err)
	}
	return enclose(c, environment)
}

// enclose checks a change and makes its envelope.
func enclose(c *eventsv1.Change, environment string) (change, error) {
	if err := check(c); err != nil {
		return change{}, err
	}
	body, err := restjson.Marshal(&eventsv1.Event{
		Id:          c.GetEventId(),
		Type:        c.GetType(),
		OccurredAt:  c.GetOccurredAt(),
		Environment: environment,
		Data:        c.GetData(),
	})
	if err != nil {
		return change{}, fmt.Errorf("envelope: %w", err)
	}
	return change{Change: c, body: body}, nil
}

// check also makes the ids canonical, because they are compared with ids of other services.
func check(c *eventsv1.Change) error {
	for _, id := range []*string{&c.EventId, &c.TenantId, &c.BrandId} {
		canonical, ok := fields.ParseUUID(*id)
		if !ok {
			return errBadID
		}
		*id = canonical
	}
	switch {
	case c.GetType() == "" || strings.ContainsRune(c.GetType(), 0):
		return errNoType
	case !c.GetOccurredAt().IsValid():
		return errBadTime
	case !json.Valid(c.GetData()):
		return errBadData
	}
	return nil
}
