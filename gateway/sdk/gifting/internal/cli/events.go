package cli

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errStart = errors.New("give --after or --from-beginning, not both")

// types of events, to complete flags with. Any other is accepted too.
var types = []string{
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
	must(c.RegisterFlagCompletionFunc("type", words(types...)))
	return c
}

// start returns the cursor to begin with. Without flags it is that of the feed's end.
func (s *selection) start(ctx context.Context, client *gifting.Client) (cursor string, err error) {
	if s.after != "" && s.beginning {
		return "", usage(errStart)
	}
	if s.after != "" || s.beginning {
		return s.after, nil
	}
	var end gifting.Page[gifting.Event]
	err = client.Call(ctx, http.MethodGet, "/events?from=end", nil, &end)
	return end.NextCursor, err
}

// follow calls handle with each chosen event, until the context ends. It says where to go on.
func (a *app) follow(ctx context.Context, client *gifting.Client, s *selection, ready func(), handle func(gifting.Event) error) error {
	cursor, err := s.start(ctx, client)
	if err != nil {
		return err
	}
	ready()
	defer func() {
		if cursor != "" {
			a.note("To go on from here: --after " + cursor)
		}
	}()
	feed := gifting.Feed{After: cursor, Retrying: func(err error) { a.note("The feed cannot be read for now: " + err.Error()) }}
	for page, err := range client.Feed(ctx, feed) {
		if err != nil {
			return err
		}
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
			if a.output == asJSON {
				return terminal.Line(a.Out, event)
			}
			return terminal.Table(a.Out, nil, [][]string{append([]string{short(event.OccurredAt), string(event.Type), event.ID}, about(event)...)})
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
