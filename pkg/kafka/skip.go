package kafka

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/partnergifting/platform/pkg/telemetry"
)

var (
	errSkipUsage = errors.New("--partition and --to are needed")
	errSkipBack  = errors.New("is not after the stored offset")
	errSkipEnd   = errors.New("is after the end of the partition")
)

// Skip is the command that moves the stored offset of a partition forward. What it skips is lost for the store, so a person
// decides it: after messages are gone from Kafka, or because of a message that can never be handled.
func Skip(ctx context.Context, cfg Config, topic string, offsets Offsets, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("skip", flag.ContinueOnError)
	flags.SetOutput(out)
	partition := flags.Int("partition", -1, "partition of the topic")
	to := flags.Int64("to", -1, "offset of the first message that is not skipped")
	dryRun := flags.Bool("dry-run", false, "only report what would be skipped")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *partition < 0 || *to < 0 || flags.NArg() > 0 {
		return errSkipUsage
	}
	inspector, err := NewInspector(cfg, topic, telemetry.Discard())
	if err != nil {
		return err
	}
	defer inspector.Close()
	span, err := inspector.span(ctx, *partition)
	if err != nil {
		return err
	}
	stored, err := offsets.Stored(ctx, *partition, -1)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "partition %d: stored up to offset %d, Kafka has %d to %d\n", *partition, stored.Next, span.From, span.To)
	switch {
	case *to <= stored.Next:
		return fmt.Errorf("offset %d %w", *to, errSkipBack)
	case *to > span.To:
		return fmt.Errorf("offset %d %w", *to, errSkipEnd)
	case *dryRun:
		_, err := fmt.Fprintf(out, "offsets that would be skipped: %d\n", *to-stored.Next)
		return err
	}
	if err := offsets.Move(ctx, *partition, stored.Next, *to); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "offsets skipped: %d\n", *to-stored.Next)
	return err
}
