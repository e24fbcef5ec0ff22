package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errSpan       = errors.New("say which time span: --from, and --to unless it is now")
	errOtherSpan  = errors.New("with --idempotency-key give --from and --to as times, as the first attempt printed them")
	errOneType    = errors.New("--type takes one type here")
	errSecretLost = errors.New("the secret was changed, but the answer with the new one was lost: rotate it again; " +
		"the secret that your receiver has then stops at once")
)

func (a *app) webhooksCommand() *cobra.Command {
	return group("webhooks", "See how your webhooks are delivered, send them again, and change their signing secret",
		a.deliveriesCommand(), a.resendCommand(), a.replayCommand(), a.healthCommand(), a.testWebhookCommand(),
		a.rotateSecretCommand())
}

func (a *app) deliveriesCommand() *cobra.Command {
	var query gifting.ListWebhookDeliveriesQuery
	var kinds []string
	var pages paging
	command := a.command("deliveries", "List deliveries, newest first, with what your receiver answered", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		if len(kinds) > 1 {
			return terminal.AsUsageError(errOneType)
		}
		query.Type = gifting.EventType(strings.Join(kinds, ""))
		query.Since = pages.since.Time
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.WebhookDelivery]{
			{"id", func(d gifting.WebhookDelivery) string { return d.ID }},
			{"type", func(d gifting.WebhookDelivery) string { return d.Type }},
			{"event", func(d gifting.WebhookDelivery) string { return d.EventID }},
			{"occurred", func(d gifting.WebhookDelivery) string { return timeText(d.OccurredAt) }},
			{"state", func(d gifting.WebhookDelivery) string { return string(d.State) }},
			{"attempts", func(d gifting.WebhookDelivery) string { return strconv.Itoa(len(d.Attempts)) }},
			{"last answer", lastAnswer},
		}, client.Webhooks.Deliveries(ctx, query))
	})
	flags := command.Flags()
	flags.StringVar((*string)(&query.State), "state", "", "PENDING, DELIVERED, EXHAUSTED or DROPPED")
	flags.StringSliceVar(&kinds, "type", nil, "only events of this one type")
	flags.StringVar(&query.EventID, "event-id", "", "only deliveries of this event")
	terminal.Must(command.RegisterFlagCompletionFunc("state", completions("PENDING", "DELIVERED", "EXHAUSTED", "DROPPED")))
	terminal.Must(command.RegisterFlagCompletionFunc("type", completions(eventTypes...)))
	return pages.sinceFlags(command, "since", "only events since a time, or an age such as 2h")
}

func lastAnswer(d gifting.WebhookDelivery) string {
	if len(d.Attempts) == 0 {
		return ""
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.Status != nil {
		return fmt.Sprintf("HTTP %d", *last.Status)
	}
	return text(last.Error)
}

func (a *app) resendCommand() *cobra.Command {
	var once idempotent
	return a.idempotencyFlag(a.command("resend DELIVERY", "Send the event of a delivery again", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		return a.show(client.Webhooks.Resend(ctx, args[0], once.options()...))
	}), &once)
}

func (a *app) replayCommand() *cobra.Command {
	var from, to timeOrAge
	var kinds []string
	var once idempotent
	command := a.command("replay", "Send the deliveries of a time span again, such as those of an outage", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		if from.IsZero() {
			return terminal.AsUsageError(errSpan)
		}
		if to.IsZero() {
			to.Time, to.age = time.Now(), true
		}
		if from.age || to.age {
			if once.key != "" {
				return terminal.AsUsageError(errOtherSpan)
			}
			a.repeatWith = "--from " + from.UTC().Format(time.RFC3339Nano) + " --to " + to.UTC().Format(time.RFC3339Nano)
		}
		span := gifting.ReplayWebhooksRequest{From: from.UTC(), To: to.UTC()}
		for _, kind := range kinds {
			span.Types = append(span.Types, gifting.EventType(kind))
		}
		return a.show(client.Webhooks.Replay(ctx, span, once.options()...))
	})
	command.Flags().Var(&from, "from", "since a time, or an age such as 2h (required)")
	command.Flags().Var(&to, "to", "until a time, or an age; now if it is left out")
	command.Flags().StringSliceVar(&kinds, "type", nil, "only events of this type; may be repeated")
	terminal.Must(command.RegisterFlagCompletionFunc("type", completions(eventTypes...)))
	return a.idempotencyFlag(command, &once)
}

func (a *app) healthCommand() *cobra.Command {
	return a.command("health", "Show whether your receiver accepts webhooks", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		return a.show(client.Webhooks.Health(ctx))
	})
}

func (a *app) testWebhookCommand() *cobra.Command {
	return a.command("test", "Send a signed ping to the key's webhook URL", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		result, err := client.Webhooks.Test(ctx)
		if err != nil {
			return err
		}
		if err := a.print(result); err != nil {
			return err
		}
		if result.Error != nil {
			return errCheckFailed
		}
		return nil
	})
}

func (a *app) rotateSecretCommand() *cobra.Command {
	var overlap time.Duration
	command := a.command("rotate-secret", "Make a new signing secret and print it, once", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		seconds := int32(min(math.Ceil(overlap.Seconds()), math.MaxInt32))
		result, err := client.Webhooks.RotateSecret(ctx, gifting.RotateWebhookSecretRequest{OverlapSeconds: &seconds})
		if err != nil {
			return err
		}
		if result.Secret == nil {
			return errSecretLost // The API does not repeat it when an attempt is repeated.
		}
		a.note("This is the only time that the secret can be read. Store it now.")
		return a.print(result)
	})
	command.Long = `rotate-secret makes a new signing secret. The previous one stops at once without --overlap.`
	command.Flags().DurationVar(&overlap, "overlap", 0, "how long the previous secret also signs, such as 1h; at most 168h")
	return command
}
