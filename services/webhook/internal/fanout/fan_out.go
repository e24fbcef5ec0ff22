// Package fanout turns changes into deliveries: one for each key of the tenant that may see the change and
// has a webhook, except the key whose own request made it. Deliveries for which the sender has workers are stored as leased to it
// and sent as soon as they are committed.
//
// The subscriptions are looked up after the changes have arrived, so an endpoint that was set before a change is always included.
// A tenant needs no new lookup while its published version is that of the last one, during its lease (package tenants) and until
// Redis is restarted or replaced: the version is read after the changes have arrived too. A batch is stored in one transaction, and
// storing a change twice has no effect. A message that is not a valid change is stored in another table, logged and counted; it
// does not delay later messages.
package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const scope = "github.com/partnergifting/platform/services/webhook"

// Deps are what a fan-out works with.
type Deps struct {
	Store     *store.Store
	Directory tenantsv1.DirectoryServiceClient
	// Versions says which of the endpoints that the fan-out has looked up before are still right.
	Versions *tenants.VersionReader
	// Sender sends the deliveries. Only Redrive does without.
	Sender    *sender.Sender
	Telemetry *telemetry.Telemetry
}

// Config of a fan-out. All fields are required.
type Config struct {
	Topic       string
	Environment string
	Cell        identity.Cell
}

// FanOut handles the messages of the changes topic.
type FanOut struct {
	cfg           Config
	store         *store.Store
	sender        *sender.Sender
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
		cfg: cfg, store: deps.Store, sender: deps.Sender, log: deps.Telemetry.Logger,
		subscriptions: newSubscriptions(deps, cfg.Cell), rejected: rejected,
	}, nil
}

// outcomeTimeout is how much longer a batch waits for its commit when its partition is taken away or the process stops. Deliveries
// that are leased must be sent, or they wait for the end of their leases.
const outcomeTimeout = 5 * time.Second

// Handle stores the deliveries of a batch of messages and sends those for which workers are free.
func (f *FanOut) Handle(ctx context.Context, partition int, msgs []kafka.Message) error {
	changes, rejected := f.decodeMessages(ctx, partition, msgs)
	found, err := f.subscriptions.endpointsOf(ctx, changes)
	if err != nil {
		return err
	}
	events, last := eventsOf(changes, found), msgs[len(msgs)-1]
	messages := store.Messages{
		Partition: partition, First: msgs[0].Offset, Next: last.Offset + 1, LastID: EventID(last), LastTime: last.Time,
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := outlive(ctx, outcomeTimeout)
	defer cancel()
	reserved := f.sender.Reserve(events, found)
	stored, err := f.store.FanOutMessages(ctx, messages, events, rejected, reserved.Lease())
	reserved.Send(ctx, stored.Leased)
	if err != nil {
		return err
	}
	f.rejected.Add(ctx, int64(len(rejected)))
	f.sender.Notify(stored.Due)
	return nil
}

// outlive returns a context that ends that much later than its parent.
func outlive(parent context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		timer := time.AfterFunc(by, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// EventID returns the id of the event of a message, or nothing if it is not a change or has no valid id.
func EventID(m kafka.Message) string {
	var c eventsv1.Change
	if proto.Unmarshal(m.Value, &c) != nil {
		return ""
	}
	if _, ok := fields.ParseUUID(c.GetEventId()); !ok {
		return ""
	}
	return c.GetEventId()
}

// decodeMessages returns the valid changes of the messages, each once, and the other messages as rejected.
func (f *FanOut) decodeMessages(ctx context.Context, partition int, msgs []kafka.Message) ([]change, []store.Rejected) {
	changes := make([]change, 0, len(msgs))
	seen := make(map[string]struct{}, len(msgs))
	var rejected []store.Rejected
	for _, m := range msgs {
		c, err := decode(m.Value, f.cfg.Environment)
		if err != nil {
			f.log.ErrorContext(ctx, "message is not a valid change, skipping it",
				"partition", partition, "offset", m.Offset, "error", err)
			rejected = append(rejected, store.Rejected{
				Topic: f.cfg.Topic, Partition: partition, Offset: m.Offset, Reason: err.Error(),
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

// eventsOf returns the changes that a key receives.
func eventsOf(changes []change, found sender.Lookup) []store.Event {
	events := make([]store.Event, 0, len(changes))
	for _, c := range changes {
		if keys := receivers(c, found.Endpoints[c.GetTenantId()].List); len(keys) > 0 {
			events = append(events, store.Event{
				TenantID: c.GetTenantId(), ID: c.GetEventId(), Type: c.GetType(), BrandID: c.GetBrandId(), SubjectID: c.GetSubjectId(),
				Body: c.body, KeyIDs: keys, TraceParent: c.traceParent,
			})
		}
	}
	return events
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
	if err := checkChange(c); err != nil {
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

// checkChange checks a change. It also makes the ids canonical, because they are compared with ids of other services.
func checkChange(c *eventsv1.Change) error {
	for _, id := range []*string{&c.EventId, &c.TenantId, &c.BrandId, &c.SubjectId} {
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
