package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"

	kafkago "github.com/segmentio/kafka-go"
)

// Stats are counts since the consumer was made. All but HandlerErrors should
// stay zero; each is also logged as an error when it grows.
type Stats struct {
	// Restarts counts readers replaced because they were stuck.
	Restarts int64
	// Gaps counts holes in the offsets: messages dropped before they were read.
	Gaps int64
	// PastEnd counts checks that found a partition ending before the offset that was already committed.
	PastEnd int64
	// HandlerErrors counts calls of the handler that failed.
	HandlerErrors int64
}

type stats struct {
	restarts, gaps, pastEnd, handlerErrors atomic.Int64
}

// Stats returns the counts so far.
func (c *Consumer) Stats() Stats {
	return Stats{
		Restarts:      c.stats.restarts.Load(),
		Gaps:          c.stats.gaps.Load(),
		PastEnd:       c.stats.pastEnd.Load(),
		HandlerErrors: c.stats.handlerErrors.Load(),
	}
}

// libraryLog passes on what the library reports as errors. It recovers from
// them by itself, so that they are warnings here. They hold no message content.
func (c *Consumer) libraryLog() kafkago.Logger {
	return kafkago.LoggerFunc(func(format string, args ...any) {
		level := slog.LevelWarn
		if slices.ContainsFunc(args, isTimeout) {
			level = slog.LevelDebug // A fetch that found nothing ends so, again and again.
		}
		c.log.Log(context.Background(), level, "kafka library: "+fmt.Sprintf(format, args...))
	})
}

func isTimeout(arg any) bool {
	err, ok := arg.(error)
	return ok && errors.Is(err, os.ErrDeadlineExceeded)
}
