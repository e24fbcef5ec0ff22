package events

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events/internal/relay"
)

// Config of the service. Database is the feed's. It also has the locks of the relay's leader and of the readers of Kafka, so its
// URL must lead directly to the server, not to a transaction pooler.
type Config struct {
	RPC         rpc.Config
	Cell        identity.Cell
	Database    postgres.Config
	Telemetry   telemetry.Config
	EventKeys   seal.EventKeys
	TenantsAddr string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	Environment apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; every event names it."`

	Kafka            kafka.Config  `envPrefix:"KAFKA_"`
	KafkaTopic       string        `env:"KAFKA_TOPIC" envDefault:"gifting.changes.v1" doc:"Topic of all changes."`
	KafkaPartitions  int           `env:"KAFKA_PARTITIONS" envDefault:"12" check:"min=1,max=1000" doc:"Number of partitions of the topic when it is created; it must never change later."`
	KafkaReplication int           `env:"KAFKA_REPLICATION" check:"min=0,max=9" doc:"Replicas with which the topic is created, and which it must have at least; 0: 3 in production, and the default of the brokers in sandbox. In production a topic with weaker settings is refused at start."`
	KafkaRetention   time.Duration `env:"KAFKA_RETENTION" envDefault:"168h" check:"min=1h" doc:"How long the topic keeps changes: the value when it is created, and the minimum afterwards. It must be longer than the longest outage, and than the age of the oldest database backup that may be restored."`
	KafkaGroup       string        `env:"KAFKA_FEED_GROUP" envDefault:"gifting-feed" doc:"Consumer group under which the offsets of the feed are committed in Kafka."`
	WebhookGroup     string        `env:"KAFKA_WEBHOOK_GROUP" envDefault:"gifting-webhook" doc:"Consumer group under which the offsets of the webhook service are committed in Kafka."`

	Sources         Sources       `env:"OUTBOX_SOURCES,required" secret:"true" doc:"Outboxes to read, as name=postgres://…, separated by commas."`
	OutboxRetention time.Duration `env:"OUTBOX_RETENTION" envDefault:"0s" check:"min=0s" doc:"How long a change stays in its outbox after the feed and the webhook service have stored it. It can then be published again if both the feed and Kafka are set back. The next leader of the relay first reads past what is kept, and its statements have 10 seconds: keep at most a million changes."`
	PollInterval    time.Duration `env:"OUTBOX_POLL_INTERVAL" envDefault:"25ms" check:"min=1ms,max=1m" doc:"How long an idle relay waits before it reads the outboxes again while it cannot listen to all of them. Otherwise it waits a second, or this time if it is longer."`
	BatchSize       int           `env:"OUTBOX_BATCH_SIZE" envDefault:"500" check:"min=1,max=10000" doc:"Maximum number of rows that a batch reads from each outbox."`

	Retention time.Duration `env:"FEED_RETENTION" envDefault:"720h" check:"min=24h" doc:"How long the feed keeps events."`
}

// productionReplication survives the loss of a broker while another one is down for maintenance.
const productionReplication = 3

// topic says how the topic is created and how it must be.
func (c Config) topic() relay.TopicSettings {
	t := relay.TopicSettings{Required: c.Environment == apikey.Production, TopicSettings: kafka.TopicSettings{
		Name: c.KafkaTopic, Partitions: c.KafkaPartitions, Replication: c.KafkaReplication, Retention: c.KafkaRetention,
	}}
	if t.Required && t.Replication == 0 {
		t.Replication = productionReplication
	}
	return t
}

// Source is a database whose outbox the relay publishes.
type Source = relay.Source

// Sources is parsed from a text such as orders=postgres://…,links=postgres://…
type Sources []Source

var (
	// sourceStart matches the start of an entry. A comma alone does not start one: a URL may list several hosts.
	sourceStart = regexp.MustCompile(`(?:^|,)\s*([a-z][a-z0-9_-]*)=(postgres(?:ql)?://)`)

	errSources = errors.New("sources must be name=postgres://…, separated by commas, each name once")
)

// UnmarshalText implements encoding.TextUnmarshaler. Its errors do not repeat the text, which may hold passwords.
func (s *Sources) UnmarshalText(text []byte) error {
	in := string(text)
	starts := sourceStart.FindAllStringSubmatchIndex(in, -1)
	if len(starts) == 0 || starts[0][0] != 0 {
		return errSources
	}
	var parsed Sources
	seen := map[string]bool{}
	for i, at := range starts {
		end := len(in)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name := in[at[2]:at[3]]
		if seen[name] {
			return fmt.Errorf("%w: %s", errSources, name)
		}
		seen[name] = true
		parsed = append(parsed, Source{Name: name, URL: strings.TrimSpace(in[at[4]:end])})
	}
	*s = parsed
	return nil
}
