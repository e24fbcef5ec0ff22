package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/relay"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Redriven is the result of a redrive of one partition or outbox.
type Redriven struct {
	// Source is the partition or the outbox.
	Source  string `json:"source"`
	Changes int    `json:"changes"`
	// Missing events were not in the feed. They have been appended unless it was a dry run.
	Missing int `json:"missing"`
	// Invalid messages are not changes.
	Invalid int `json:"invalid"`
}

// Redrive appends the events of a time span that the feed does not have, or only counts them. It may be interrupted and repeated.
type Redrive struct {
	Store     *store.Store
	Retention time.Duration
	From, To  time.Time
	DryRun    bool
	// Progress counts the changes that were read; nil: not at all.
	Progress *daemon.ProgressBar
}

// Topic reads a topic. If it fails, it also returns the results so far.
func (r Redrive) Topic(ctx context.Context, cfg kafka.Config, topic string) ([]Redriven, error) {
	inspector, err := kafka.NewInspector(cfg, topic, telemetry.Discard())
	if err != nil {
		return nil, err
	}
	defer inspector.Close()
	spans, err := inspector.Between(ctx, r.From, r.To)
	if err != nil {
		return nil, err
	}
	var results []Redriven
	for _, span := range spans {
		done := Redriven{Source: fmt.Sprintf("partition %d", span.Partition)}
		err := inspector.Read(ctx, span, func(ctx context.Context, msgs []kafka.Message) error {
			var changes []store.Change
			for _, m := range msgs {
				c, err := decode(m)
				if err != nil {
					done.Invalid++
					continue
				}
				changes = append(changes, c)
			}
			return r.append(ctx, span.Partition, changes, &done)
		})
		results = append(results, done)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// Outboxes reads the rows that the outboxes have kept. partitions is how many the topic had.
func (r Redrive) Outboxes(ctx context.Context, sources []relay.Source, partitions int) ([]Redriven, error) {
	var results []Redriven
	for _, source := range sources {
		done := Redriven{Source: "outbox " + source.Name}
		err := relay.ReadConfirmed(ctx, source, r.From, r.To, func(ctx context.Context, list []*eventsv1.Change) error {
			changes := make([][]store.Change, partitions)
			for _, c := range list {
				p := kafka.PartitionOf([]byte(c.GetTenantId()), partitions)
				changes[p] = append(changes[p], store.Change{Change: c})
			}
			for partition, list := range changes {
				if err := r.append(ctx, partition, list, &done); err != nil {
					return err
				}
			}
			return nil
		})
		results = append(results, done)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

func (r Redrive) append(ctx context.Context, partition int, changes []store.Change, done *Redriven) error {
	if len(changes) == 0 {
		return nil
	}
	done.Changes += len(changes)
	r.Progress.Add(len(changes))
	batch := store.Batch{Partition: partition, Changes: changes, Retention: r.Retention}
	if r.DryRun {
		missing, err := r.Store.Missing(ctx, batch)
		done.Missing += len(missing)
		return err
	}
	appended, err := r.Store.Redrive(ctx, batch)
	done.Missing += appended.Inserted
	return err
}
