package deps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/segmentio/kafka-go"
)

// apacheKafka is Java and the jars of Apache Kafka.
type apacheKafka struct {
	java string
	libs string
}

// nodeID and clusterID of the single node, which is broker and controller.
const (
	nodeID    = 1
	clusterID = "Z2lmdGluZy1sb2NhbC0wMQ"
)

func (k apacheKafka) start(ctx context.Context, cfg KafkaConfig, dir string) (*Instance, error) {
	if err := k.prepare(ctx, cfg, dir); err != nil {
		return nil, err
	}
	return server{
		name: "Kafka", address: cfg.advertised(), kind: Apache, port: cfg.Port, path: k.java,
		args: append(k.options(), "-Xms256m", "-Xmx512m", "kafka.Kafka", propertiesFile(dir)),
		dir:  dir, quit: syscall.SIGTERM, log: filepath.Join(dir, "kafka.log"), pidFile: filepath.Join(dir, "kafka.pid"),
		ready: func(ctx context.Context) error { return brokerAnswers(ctx, cfg.Port) },
	}.start(ctx)
}

func (c KafkaConfig) advertised() string {
	if c.Advertise != "" {
		return c.Advertise
	}
	return loopback(c.Port)
}

func (k apacheKafka) options() []string {
	return []string{"-cp", filepath.Join(k.libs, "*"), "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dlog4j2.level=warn"}
}

func propertiesFile(dir string) string {
	return filepath.Join(dir, "server.properties")
}

// prepare writes the settings and formats the data directory on the first start.
func (k apacheKafka) prepare(ctx context.Context, cfg KafkaConfig, dir string) error {
	controller, err := FreePort(ctx)
	if err != nil {
		return err
	}
	text := properties(cfg, controller, filepath.Join(dir, "data"))
	if err := os.WriteFile(propertiesFile(dir), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	args := append(k.options(), "kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", clusterID, "-c", propertiesFile(dir))
	output, err := exec.CommandContext(ctx, k.java, args...).CombinedOutput() //nolint:gosec // The Java that was found.
	if err != nil {
		return fmt.Errorf("format: %w\n%s", err, output)
	}
	return nil
}

// properties are the settings of a single small node. Like a production broker it does not create topics automatically.
func properties(cfg KafkaConfig, controller int, data string) string {
	var listeners, protocols string
	for _, l := range cfg.Listeners {
		listeners += fmt.Sprintf(",%s://%s", l.Protocol, loopback(l.Port))
		protocols += fmt.Sprintf(",%s:%s", l.Protocol, l.Protocol)
	}
	return strings.Join(slices.Concat([]string{
		"process.roles=broker,controller",
		fmt.Sprintf("node.id=%d", nodeID),
		fmt.Sprintf("controller.quorum.voters=%d@%s", nodeID, loopback(controller)),
		fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://%s", loopback(cfg.Port), loopback(controller)) + listeners,
		"advertised.listeners=PLAINTEXT://" + cfg.advertised() + listeners,
		"controller.listener.names=CONTROLLER",
		"inter.broker.listener.name=PLAINTEXT",
		"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT" + protocols,
		"log.dirs=" + data,
		"auto.create.topics.enable=false",
		"default.replication.factor=1",
		"min.insync.replicas=1",
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=4",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"transaction.state.log.num.partitions=4",
		"group.initial.rebalance.delay.ms=0",
		"log.cleaner.dedupe.buffer.size=16777216",
		"num.network.threads=2",
		"num.io.threads=4",
		"background.threads=2",
	}, cfg.Properties, []string{""}), "\n")
}

var errNoBroker = errors.New("no broker has registered")

func brokerAnswers(ctx context.Context, port int) error {
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(loopback(port)), Transport: transport}
	metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{}})
	if err != nil {
		return err
	}
	if len(metadata.Brokers) == 0 {
		return errNoBroker
	}
	return nil
}
