package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// TopicSettings say how a topic is created, and how it must be so that no acknowledged message is lost.
type TopicSettings struct {
	Name string
	// Partitions it is created with. An existing topic may have another number.
	Partitions int
	// Replication is the number of replicas of each partition. From two on, a message is acknowledged when two of them have it.
	// Zero leaves both to the brokers, and requires nothing.
	Replication int
	// Retention is how long messages are kept. Zero leaves it to the brokers.
	Retention time.Duration
}

// The settings of a topic, as Kafka names them.
const (
	replicationFactor = "replication factor"
	minInSync         = "min.insync.replicas"
	uncleanElection   = "unclean.leader.election.enable"
	cleanupPolicy     = "cleanup.policy"
	retentionTime     = "retention.ms"
	retentionSize     = "retention.bytes"
	segmentTime       = "segment.ms"
)

// unlimited is how Kafka writes that a retention has no limit.
const unlimited = -1

// requirement is what a setting of the topic must be: it has a value to create the topic with, and weaker ones.
type requirement struct {
	setting, value string
	weaker         func(found string) bool
}

// requirements are the settings that a topic needs. The replication factor is not among them: Kafka treats it apart.
func (t TopicSettings) requirements() []requirement {
	exactly := func(setting, value string) requirement {
		return requirement{setting, value, func(found string) bool { return found != value }}
	}
	required := []requirement{
		// A replica that lags behind would become the leader, and what it lacks would be gone.
		exactly(uncleanElection, "false"),
		// Compaction would keep only the newest message of each key.
		exactly(cleanupPolicy, "delete"),
		// A limit of size would delete messages before their time.
		exactly(retentionSize, strconv.Itoa(unlimited)),
	}
	if t.Retention > 0 {
		required = append(required, atLeast(retentionTime, t.Retention.Milliseconds()))
	}
	if t.Replication > 0 {
		required = append(required, atLeast(minInSync, int64(min(t.Replication, 2))))
	}
	return required
}

// atLeast requires a number. What is not limited is more than any number.
func atLeast(setting string, least int64) requirement {
	return requirement{setting, strconv.FormatInt(least, 10), func(found string) bool {
		n, err := strconv.ParseInt(found, 10, 64)
		return err != nil || n != unlimited && n < least
	}}
}

func (t TopicSettings) creation() kafkago.TopicConfig {
	topic := kafkago.TopicConfig{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: t.Replication}
	if t.Replication == 0 {
		topic.ReplicationFactor = -1 // The brokers' default.
	}
	for _, r := range t.requirements() {
		topic.ConfigEntries = append(topic.ConfigEntries, kafkago.ConfigEntry{ConfigName: r.setting, ConfigValue: r.value})
	}
	return topic
}

// ErrWeakTopic is a topic that may lose messages.
var ErrWeakTopic = errors.New("kafka: the topic may lose messages")

// TopicReport compares a topic with its settings.
type TopicReport struct {
	Topic    string
	Settings []SettingReport
	// MaxAge is the longest time that the topic may keep a message, math.MaxInt64 if there is no limit. It is longer than the
	// retention, because Kafka deletes only whole segments.
	MaxAge time.Duration
	// brokers are named in the command that mends the topic.
	brokers []string
}

// SettingReport compares one setting.
type SettingReport struct {
	Setting, Found, Required string
	Weaker                   bool
}

// CheckTopic reads the settings of an existing topic.
func CheckTopic(ctx context.Context, cfg Config, topic TopicSettings) (TopicReport, error) {
	report := TopicReport{Topic: topic.Name, brokers: cfg.Brokers}
	cluster, err := newCluster(cfg, telemetry.Discard())
	if err != nil {
		return report, err
	}
	inspector := cluster.inspector(topic.Name)
	defer inspector.Close()
	inspector.client.Timeout = writeTimeout
	if topic.Replication > 0 {
		replicas, err := fewestReplicas(ctx, inspector.client, topic.Name)
		if err != nil {
			return report, fmt.Errorf("kafka: read the replicas of topic %s: %w", topic.Name, err)
		}
		report.Settings = append(report.Settings, SettingReport{
			Setting: replicationFactor, Found: strconv.Itoa(replicas), Required: strconv.Itoa(topic.Replication),
			Weaker: replicas < topic.Replication,
		})
	}
	found, err := topicConfigs(ctx, inspector.client, topic.Name)
	switch {
	case errors.Is(err, kafkago.TopicAuthorizationFailed):
		return report, fmt.Errorf("%w, as far as can be told: reading the settings of %s needs the permission DescribeConfigs: %w",
			ErrWeakTopic, topic.Name, err)
	case err != nil:
		return report, fmt.Errorf("kafka: read the settings of topic %s: %w", topic.Name, err)
	}
	for _, r := range topic.requirements() {
		// A broker that does not know a setting does not do what it would forbid.
		if value, known := found[r.setting]; known {
			report.Settings = append(report.Settings, SettingReport{r.setting, value, r.value, r.weaker(value)})
		}
	}
	report.MaxAge = maxAge(found)
	return report, nil
}

// fewestReplicas returns the number of replicas of the partition that has the fewest.
func fewestReplicas(ctx context.Context, client *kafkago.Client, topic string) (int, error) {
	res, err := client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	if len(res.Topics) != 1 || res.Topics[0].Error != nil || len(res.Topics[0].Partitions) == 0 {
		return 0, kafkago.UnknownTopicOrPartition
	}
	fewest := math.MaxInt
	for _, p := range res.Topics[0].Partitions {
		fewest = min(fewest, len(p.Replicas))
	}
	return fewest, nil
}

func topicConfigs(ctx context.Context, client *kafkago.Client, topic string) (map[string]string, error) {
	res, err := client.DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{Resources: []kafkago.DescribeConfigRequestResource{
		{ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic},
	}})
	if err != nil {
		return nil, err
	}
	if len(res.Resources) != 1 {
		return nil, kafkago.UnknownTopicOrPartition
	}
	if err := res.Resources[0].Error; err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, entry := range res.Resources[0].ConfigEntries {
		found[entry.ConfigName] = entry.ConfigValue
	}
	return found, nil
}

func maxAge(found map[string]string) time.Duration {
	retention, err := strconv.ParseInt(found[retentionTime], 10, 64)
	segment, _ := strconv.ParseInt(found[segmentTime], 10, 64)
	const most = math.MaxInt64 / int64(time.Millisecond)
	if err != nil || retention == unlimited || retention > most || segment > most-retention {
		return math.MaxInt64
	}
	return time.Duration(retention+segment) * time.Millisecond
}

// Err is nil, or an error that wraps ErrWeakTopic and says what is weaker than required, and what mends it.
func (r TopicReport) Err() error {
	var weak, configs []string
	replicas := false
	for _, s := range r.Settings {
		if !s.Weaker {
			continue
		}
		weak = append(weak, fmt.Sprintf("%s is %s (required: %s)", s.Setting, s.Found, s.Required))
		if s.Setting == replicationFactor {
			replicas = true
		} else {
			configs = append(configs, s.Setting+"="+s.Required)
		}
	}
	if len(weak) == 0 {
		return nil
	}
	var mend []string
	if replicas {
		mend = append(mend, "kafka-reassign-partitions.sh, which adds the replicas")
	}
	if len(configs) > 0 {
		mend = append(mend, fmt.Sprintf("kafka-configs.sh --bootstrap-server %s --alter --topic %s --add-config %s",
			strings.Join(r.brokers, ","), r.Topic, strings.Join(configs, ",")))
	}
	return fmt.Errorf("%w: %s: %s; to mend it, run %s", ErrWeakTopic, r.Topic, strings.Join(weak, ", "), strings.Join(mend, ", then "))
}
