package deps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

// KafkaConfig configures the Kafka to use.
type KafkaConfig struct {
	Brokers []string // if set, all other fields are ignored
	Dir     string   // holds the data
	Port    int
	// Advertise is the host:port that Apache Kafka tells its clients to use, such as that of a proxy. If empty, it is the
	// address where it listens.
	Advertise string
	// PreferApache runs Apache Kafka if Java exists and the jars are in JarsDir or can be fetched with Maven. Otherwise an
	// embedded broker runs.
	PreferApache bool
	JarsDir      string // keeps the fetched jars for later runs
	// Listeners and Properties are further listeners on loopback and further settings, of Apache Kafka only.
	Listeners  []Listener
	Properties []string
	Log        *slog.Logger
}

// Listener is one more listener of a broker.
type Listener struct {
	Protocol string // the security protocol, such as SASL_SSL, which is also the listener's name
	Port     int
}

var errAdvertise = errors.New("the embedded broker cannot advertise another address")

// StartKafka starts one broker that listens on loopback only, or uses the given ones. A started broker does not create topics
// automatically.
func StartKafka(ctx context.Context, cfg KafkaConfig) (*Instance, error) {
	if len(cfg.Brokers) > 0 {
		return &Instance{Name: "Kafka", Address: strings.Join(cfg.Brokers, ","), Kind: Given}, nil
	}
	instance, err := startKafka(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start Kafka: %w", err)
	}
	cfg.Log.Info("Kafka is up", "kind", instance.Kind, "port", cfg.Port)
	return instance, nil
}

func startKafka(ctx context.Context, cfg KafkaConfig) (*Instance, error) {
	var apache apacheKafka
	missing := errors.New("not requested")
	if cfg.PreferApache {
		if apache, missing = findApacheKafka(ctx, cfg); missing != nil {
			cfg.Log.Warn("no Apache Kafka, using the embedded broker", "error", missing)
		}
	}
	if missing != nil && cfg.Advertise != "" {
		return nil, errors.Join(errAdvertise, missing)
	}
	// Neither kind of broker can read the other's data.
	kind := Apache
	if missing != nil {
		kind = Embedded
	}
	dir, err := filepath.Abs(filepath.Join(cfg.Dir, string(kind)))
	if err != nil {
		return nil, err
	}
	return locked(dir, func() (*Instance, error) {
		if kind == Apache {
			return apache.start(ctx, cfg, dir)
		}
		return startEmbeddedKafka(ctx, cfg, dir)
	})
}

func startEmbeddedKafka(ctx context.Context, cfg KafkaConfig, dir string) (*Instance, error) {
	if err := RequireFree(ctx, "Kafka", cfg.Port); err != nil {
		return nil, err
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(cfg.Port),
		kfake.ClusterID("partner-gifting"),
		kfake.DataDir(filepath.Join(dir, "data")),
	)
	if err != nil {
		return nil, err
	}
	return &Instance{Name: "Kafka", Address: loopback(cfg.Port), Kind: Embedded, stop: func(context.Context) error {
		cluster.Close()
		return nil
	}}, nil
}
