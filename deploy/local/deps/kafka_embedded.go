package deps

import (
	"context"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kfake"
)

func startEmbeddedKafka(ctx context.Context, cfg KafkaConfig, dir string, lock *dirLock) (*Instance, error) {
	if err := requireFree(ctx, "Kafka", cfg.Port); err != nil {
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
	return &Instance{Address: loopback(cfg.Port), Kind: Embedded, stop: func(context.Context) error {
		defer lock.release()
		cluster.Close()
		return nil
	}}, nil
}
