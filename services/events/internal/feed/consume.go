package feed

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
)

const retryTopic = time.Second

// Consume creates the topic if it is missing and then consumes it until ctx ends. The feed may be the
// first to need the topic, and a consumer cannot wait for one that does not exist.
func Consume(ctx context.Context, ensure func(ctx context.Context) error, consumer *kafka.Consumer, log *slog.Logger) error {
	for {
		err := ensure(ctx)
		if err == nil {
			return consumer.Run(ctx)
		}
		if ctx.Err() == nil {
			log.WarnContext(ctx, "cannot look up the topic of changes, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryTopic):
		}
	}
}
