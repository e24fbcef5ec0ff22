package events

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events/internal/feed"
	"github.com/partnergifting/platform/services/events/internal/store"
)

var errSpan = errors.New("--from and --to are needed, as 2006-01-02T15:04:05Z, --to after --from")

// Redrive is the command that appends to the feed the events that Kafka has and the feed does not. It may be interrupted and
// repeated, and run while the service runs.
func Redrive(ctx context.Context, cfg Config, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("redrive", flag.ContinueOnError)
	flags.SetOutput(out)
	var from, to time.Time
	flags.TextVar(&from, "from", time.Time{}, "read messages written at this time or later")
	flags.TextVar(&to, "to", time.Time{}, "read messages written before this time")
	dryRun := flags.Bool("dry-run", false, "only count what the feed does not have")
	asJSON := flags.Bool("json", false, "print the result as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if from.IsZero() || !from.Before(to) || flags.NArg() > 0 {
		return errSpan
	}
	return withStore(ctx, cfg, func(s *store.Store) error {
		spans, err := kafka.Spans(ctx, cfg.Kafka, cfg.KafkaTopic, from, to)
		if err != nil {
			return err
		}
		var results []feed.Redriven
		for _, span := range spans {
			done, err := feed.Redrive(ctx, s, cfg.Kafka, cfg.KafkaTopic, span, cfg.Retention, *dryRun)
			results = append(results, done)
			if err != nil {
				return errors.Join(err, report(out, results, *asJSON))
			}
		}
		return report(out, results, *asJSON)
	})
}

// report prints a line for each partition and one for all.
func report(out io.Writer, results []feed.Redriven, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(results)
	}
	var total feed.Redriven
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "partition\tfrom\tto\tmessages\tmissing\tinvalid\t")
	for _, r := range results {
		_, _ = fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t\n", r.Partition, r.From, r.To, r.Messages, r.Missing, r.Invalid)
		total.Messages, total.Missing, total.Invalid = total.Messages+r.Messages, total.Missing+r.Missing, total.Invalid+r.Invalid
	}
	_, _ = fmt.Fprintf(w, "all\t\t\t%d\t%d\t%d\t\n", total.Messages, total.Missing, total.Invalid)
	return w.Flush()
}

// Skip is the command that moves the stored offset of a partition forward.
func Skip(ctx context.Context, cfg Config, args []string, out io.Writer) error {
	return withStore(ctx, cfg, func(s *store.Store) error {
		return kafka.Skip(ctx, cfg.Kafka, cfg.KafkaTopic, store.Offsets{Store: s}, args, out)
	})
}

// ForgetTopic is the command that lets the feed begin another topic, with another number of partitions.
func ForgetTopic(ctx context.Context, cfg Config, out io.Writer) error {
	return withStore(ctx, cfg, func(s *store.Store) error {
		if err := s.ForgetTopic(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "the feed begins at the oldest message of its topic when it starts")
		return err
	})
}

// withStore opens the feed's database as the service does.
func withStore(ctx context.Context, cfg Config, work func(s *store.Store) error) error {
	pool, err := openDatabase(ctx, cfg, telemetry.Discard())
	if err != nil {
		return err
	}
	defer pool.Close()
	return work(store.New(pool))
}

func openDatabase(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*pgxpool.Pool, error) {
	return postgres.OpenObserved(ctx, cfg.Database, tel, postgres.ByIndex, postgres.PlanOnce, store.CheckServer)
}
