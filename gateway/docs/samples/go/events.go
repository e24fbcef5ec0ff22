package samples

import (
	"context"
	"fmt"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// EndOfFeed shows where the feed ends now.
func EndOfFeed(ctx context.Context, client *gifting.Client) (string, error) {
	// sample: endOfFeed
	end, err := client.Events.List(ctx, gifting.ListEventsQuery{From: gifting.FeedEnd})
	if err != nil {
		return "", err
	}
	cursor := end.NextCursor
	// end
	return cursor, nil
}

// NextEvents shows a call that waits for an event.
func NextEvents(ctx context.Context, client *gifting.Client, cursor string) (string, error) {
	// sample: nextEvents
	page, err := client.Events.List(ctx, gifting.ListEventsQuery{
		Paging: gifting.Paging{After: cursor, Limit: 1}, Wait: 5 * time.Second,
	})
	if err != nil {
		return "", err
	}
	for _, event := range page.Items {
		fmt.Println(event.Type, string(event.Raw))
	}
	cursor = page.NextCursor
	// end
	return cursor, nil
}

// ListEvents shows listEvents.
func ListEvents(ctx context.Context, client *gifting.Client, cursor string, store func(cursor string) error) error {
	// sample: listEvents
	// Waits for new events and never ends by itself.
	for page, err := range client.Events.Feed(ctx, gifting.FeedOptions{After: cursor}) {
		if err != nil {
			return err
		}
		for _, event := range page.Items {
			switch data := event.Data.(type) {
			case *gifting.OrderStatusChanged:
				fmt.Println(data.Order.ID, data.PreviousStatus, data.Order.Status)
			case *gifting.OrderCreated:
				fmt.Println(data.ID, data.Status)
			}
		}
		// In the transaction that stores what the events changed.
		if err := store(page.NextCursor); err != nil {
			return err
		}
	}
	// end
	return nil
}
