package events

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events/internal/feed"
	"github.com/partnergifting/platform/services/events/internal/notices"
	"github.com/partnergifting/platform/services/events/internal/store"
)

var errSpan = errors.New("--from and --to are needed, as 2006-01-02T15:04:05Z, --to after --from")

// Redrive is the command that appends to the feed the events that Kafka, or the outboxes, have and the feed does not. It may be
// interrupted and repeated, and run while the service runs.
func Redrive(ctx context.Context, cfg Config, args []string, out io.Writer) error {
	var r feed.Redrive
	flags := flag.NewFlagSet("redrive", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.TextVar(&r.From, "from", time.Time{}, "changes written at this time or later")
	flags.TextVar(&r.To, "to", time.Time{}, "changes written before this time")
	flags.BoolVar(&r.DryRun, "dry-run", false, "only count what the feed does not have")
	outboxes := flags.Bool("outbox", false, "read the rows that the outboxes have kept (GIFTING_OUTBOX_RETENTION), not Kafka")
	asJSON := flags.Bool("json", false, "print the result as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.From.IsZero() || !r.From.Before(r.To) || flags.NArg() > 0 {
		return errSpan
	}
	return withPool(ctx, cfg, func(pool *pgxpool.Pool) error {
		clock, err := daemon.NewRetentionClock(pool, telemetry.Discard())
		if err != nil {
			return err
		}
		lag, err := clock.Lag(ctx)
		if err != nil {
			return err
		}
		s := store.New(pool)
		r.Store, r.Retention = s, cfg.Retention+lag
		r.Progress = daemon.NewProgressBar(daemon.OnTerminal(os.Stderr), "changes read", 0)
		var results []feed.Redriven
		if *outboxes {
			var partitions int
			if partitions, err = s.Partitions(ctx); err != nil {
				return err
			}
			results, err = r.Outboxes(ctx, cfg.Sources, partitions)
		} else {
			results, err = r.Topic(ctx, cfg.Kafka, cfg.KafkaTopic)
		}
		r.Progress.End()
		if !r.DryRun {
			err = errors.Join(err, notices.AnnounceMissed(ctx, pool))
		}
		return errors.Join(err, report(out, results, *asJSON))
	})
}

// report prints a line for each source and one for all.
func report(out io.Writer, results []feed.Redriven, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(results)
	}
	total := feed.Redriven{Source: "all"}
	for _, r := range results {
		total.Changes, total.Missing, total.Invalid = total.Changes+r.Changes, total.Missing+r.Missing, total.Invalid+r.Invalid
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "source\tchanges\tmissing\tinvalid")
	for _, r := range append(results, total) {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", r.Source, r.Changes, r.Missing, r.Invalid)
	}
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
	return withPool(ctx, cfg, func(pool *pgxpool.Pool) error { return work(store.New(pool)) })
}

func withPool(ctx context.Context, cfg Config, work func(pool *pgxpool.Pool) error) error {
	pool, err := postgres.OpenObserved(ctx, cfg.Database, telemetry.Discard(), databaseOptions()...)
	if err != nil {
		return err
	}
	defer pool.Close()
	return work(pool)
}

func databaseOptions() []postgres.Option {
	return []postgres.Option{postgres.ByIndex, postgres.PlanOnce, store.CheckServer}
}
