package cli

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errStart = errors.New("give --after or --from-beginning, not both")

// eventTypes are for the completion of flags. Any other type is accepted too.
var eventTypes = []string{
	"order.created", "order.status_changed", "order.updated", "order.message_posted",
	"personal_link.created", "personal_link.approved", "personal_link.claimed", "personal_link.cancelled",
}

// selection are the flags that choose events.
type selection struct {
	after     string
	beginning bool
	types     []string
}

func (s *selection) flags(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&s.after, "after", "", "go on from the cursor that a command printed when it was stopped")
	c.Flags().BoolVar(&s.beginning, "from-beginning", false, "all events that are kept, 30 days")
	c.Flags().StringSliceVar(&s.types, "type", nil, "only events of this type; may be repeated")
	terminal.Must(c.RegisterFlagCompletionFunc("type", completions(eventTypes...)))
	return c
}

// follow calls handle with each chosen event, until the context ends. Without flags it begins at the end of the feed, and calls
// ready once it knows where that is. At last it prints the cursor with which to go on.
func (a *app) follow(
	ctx context.Context, client *gifting.Client, s *selection, ready func(), handle func(gifting.Event) error,
) error {
	if s.after != "" && s.beginning {
		return terminal.AsUsageError(errStart)
	}
	cursor, begun := s.after, sync.OnceFunc(ready)
	feed := gifting.FeedOptions{
		After:        s.after,
		OnDisconnect: func(err error) { a.note("The feed cannot be read for now: " + err.Error()) },
	}
	if s.after != "" || s.beginning {
		begun()
	} else {
		feed.From = gifting.FeedEnd
	}
	defer func() {
		if cursor != "" {
			a.note("To go on from here: --after " + cursor)
		}
	}()
	for page, err := range client.Events.Feed(ctx, feed) {
		if err != nil {
			return err
		}
		begun()
		for _, event := range page.Items {
			if len(s.types) > 0 && !slices.Contains(s.types, string(event.Type)) {
				continue
			}
			if err := handle(event); err != nil {
				return err
			}
		}
		cursor = page.NextCursor
	}
	return nil
}

func (a *app) eventsCommand() *cobra.Command {
	var chosen selection
	tail := a.command("tail", "Print events as they happen", func(ctx context.Context, client *gifting.Client, _ []string) error {
		return a.follow(ctx, client, &chosen, func() { a.note("Waiting for events. Ctrl-C stops.") }, func(event gifting.Event) error {
			if a.output == terminal.AsJSON {
				return terminal.JSONLine(a.Out, event)
			}
			return terminal.Table(a.Out, nil,
				[][]string{append([]string{timeText(event.OccurredAt), string(event.Type), event.ID}, about(event)...)})
		})
	})
	tail.Long = `tail prints a line for each event of the feed, from now on. With -o json a line is the event as the API sends it.`
	return group("events", "Read the event feed", chosen.flags(tail))
}

// about says which record an event is about, and its status.
func about(event gifting.Event) []string {
	switch data := event.Data.(type) {
	case *gifting.OrderCreated:
		return []string{data.ID, string(data.Status)}
	case *gifting.OrderUpdated:
		return []string{data.ID, string(data.Status)}
	case *gifting.OrderStatusChanged:
		return []string{data.Order.ID, string(data.PreviousStatus) + " → " + string(data.Order.Status)}
	case *gifting.OrderMessagePosted:
		return []string{data.OrderID, data.Message.Body}
	case *gifting.PersonalLinkCreated:
		return []string{data.ID, string(data.Status)}
	case *gifting.PersonalLinkApproved:
		return []string{data.ID, string(data.Status)}
	case *gifting.PersonalLinkClaimed:
		return []string{data.ID, string(data.Status)}
	case *gifting.PersonalLinkCancelled:
		return []string{data.ID, string(data.Status)}
	}
	return nil
}
