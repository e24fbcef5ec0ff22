package deps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// KafkaConfig says which Kafka to use.
type KafkaConfig struct {
	Brokers []string // when set, nothing else counts
	Dir     string   // keeps the data
	Port    int
	// Advertise is the host:port that clients are told to use, of something in front of a broker of Apache Kafka. Empty:
	// where it listens.
	Advertise string
	// PreferApache runs Apache Kafka where Java exists and its jars are in JarsDir or can be fetched with Maven; else,
	// and when it is false, an embedded broker runs.
	PreferApache bool
	JarsDir      string // keeps what Maven fetched, for every later run
	Log          *slog.Logger
}

var errAdvertise = errors.New("the embedded broker cannot advertise another address")

// StartKafka starts one broker that listens on loopback only, or uses the given ones. A started broker does not create
// topics by itself; see CreateTopics.
func StartKafka(ctx context.Context, cfg KafkaConfig) (*Instance, error) {
	if len(cfg.Brokers) > 0 {
		return given(strings.Join(cfg.Brokers, ",")), nil
	}
	instance, err := startKafka(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start Kafka: %w", err)
	}
	return instance, nil
}

func startKafka(ctx context.Context, cfg KafkaConfig) (*Instance, error) {
	kind := Embedded
	var java apacheKafka
	var missing error
	if cfg.PreferApache {
		found, err := findApacheKafka(ctx, cfg)
		if err == nil {
			kind, java = Apache, found
		} else {
			missing = err
			cfg.Log.Warn("Apache Kafka cannot be had, the embedded broker takes its place", "error", err)
		}
	}
	if kind == Embedded && cfg.Advertise != "" {
		return nil, errors.Join(errAdvertise, missing)
	}
	// Each kind of broker has a directory of its own: neither can read the other's data.
	dir, err := filepath.Abs(filepath.Join(cfg.Dir, string(kind)))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	var instance *Instance
	if kind == Apache {
		instance, err = java.start(ctx, cfg, dir, lock)
	} else {
		instance, err = startEmbeddedKafka(ctx, cfg, dir, lock)
	}
	if err != nil {
		lock.release()
		return nil, err
	}
	cfg.Log.Info("Kafka is up", "kind", kind, "port", cfg.Port)
	return instance, nil
}
