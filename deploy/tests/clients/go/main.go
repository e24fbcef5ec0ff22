// Command go is what an integrator does with the client of oapi-codegen. deploy/tests/clients/doc.go says what it must print.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/deploy/tests/clients/go/api"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := clientOf(os.Getenv("GIFTING_URL"))
	if err != nil {
		return err
	}
	future, err := clientOf(os.Getenv("FUTURE_URL"))
	if err != nil {
		return err
	}
	externalOrderID := "oapi-codegen-" + uuid.NewString()
	product, err := gift(ctx, client)
	if err != nil {
		return err
	}
	placed, err := place(ctx, client, externalOrderID, product)
	if err != nil {
		return err
	}
	if placed.JSON201 == nil {
		return fmt.Errorf("the order was refused: %s", placed.Body)
	}
	fmt.Println("order", placed.JSON201.Id, placed.JSON201.Status)

	created, err := findCreated(ctx, client, externalOrderID)
	if err != nil {
		return err
	}
	fmt.Println("feed", created.Id, created.Data.Id)

	again, err := place(ctx, client, externalOrderID, product)
	if err != nil {
		return err
	}
	if again.ApplicationproblemJSON409 == nil {
		return fmt.Errorf("the same order again: %s", again.Body)
	}
	fmt.Println("problem", again.ApplicationproblemJSON409.Code, again.ApplicationproblemJSON409.OrderId)
	return meetUnknown(ctx, future, externalOrderID, product)
}

// meetUnknown reads a code and an event that are newer than the client.
func meetUnknown(ctx context.Context, future *api.ClientWithResponses, externalOrderID string, product uuid.UUID) error {
	refused, err := place(ctx, future, externalOrderID, product)
	if err != nil {
		return err
	}
	unknown := refused.ApplicationproblemJSON422
	page, err := read(ctx, future, nil)
	if err != nil {
		return err
	}
	fmt.Print("unknown ", unknown.Code, " ", (*unknown.Errors)[0].Code)
	for _, item := range page.Items {
		event, err := item.AsUnknownEvent() // It has what all events have.
		if err != nil {
			return err
		}
		fmt.Print(" ", event.Type)
	}
	fmt.Println()
	return nil
}

func clientOf(url string) (*api.ClientWithResponses, error) {
	return api.NewClientWithResponses(url, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("GIFTING_KEY"))
		return nil
	}))
}

// gift returns one that can go to Sweden and has nothing to choose.
func gift(ctx context.Context, client *api.ClientWithResponses) (id uuid.UUID, err error) {
	page, err := client.ListProductsWithResponse(ctx, &api.ListProductsParams{Country: "SE"})
	if err != nil {
		return id, err
	}
	for _, entry := range page.JSON200.Items {
		product, err := entry.AsProduct() // One that left the catalog is not listed and has only zero values.
		if err == nil && bool(product.Listed) && product.Available && len(product.Variations) == 0 {
			return product.Id, nil
		}
	}
	return id, errors.New("there is no gift to order")
}

func place(
	ctx context.Context, client *api.ClientWithResponses, externalOrderID string, product uuid.UUID,
) (*api.PlaceOrderResponse, error) {
	brand, productID, postalCode := os.Getenv("GIFTING_BRAND_ID"), product.String(), "111 22"
	return client.PlaceOrderWithResponse(ctx, &api.PlaceOrderParams{IdempotencyKey: uuid.NewString()}, api.PlaceOrderRequest{
		ExternalOrderId: externalOrderID,
		BrandId:         &brand,
		Items:           []api.OrderItemInput{{ProductId: &productID}},
		Client:          api.OrderClient{Name: "Ada Player"},
		Recipient: api.OrderRecipient{Name: "Ada Player", Phone: "+46701234567", Address: api.OrderAddress{
			Street: "Storgatan 1", City: "Stockholm", PostalCode: &postalCode, Country: "SE",
		}},
	})
}

// read returns a page of the feed. A call waits for the next event.
func read(ctx context.Context, client *api.ClientWithResponses, after *string) (*api.EventPage, error) {
	limit, wait := int32(2), int32(10)
	page, err := client.ListEventsWithResponse(ctx, &api.ListEventsParams{After: after, Limit: &limit, Wait: &wait})
	if err != nil {
		return nil, err
	}
	if page.JSON200 == nil {
		return nil, errors.New(string(page.Body))
	}
	return page.JSON200, nil
}

// findCreated decodes each event twice: first what all events have, then by its type.
func findCreated(ctx context.Context, client *api.ClientWithResponses, externalOrderID string) (*api.OrderCreatedEvent, error) {
	var after *string
	for {
		page, err := read(ctx, client, after)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			envelope, err := item.AsUnknownEvent()
			if err != nil {
				return nil, err
			}
			if envelope.Type != string(api.OrderCreatedEventTypeOrderCreated) {
				continue
			}
			event, err := item.AsOrderCreatedEvent()
			if err != nil {
				return nil, err
			}
			if *event.Data.ExternalOrderId == externalOrderID {
				return &event, nil
			}
		}
		after = page.NextCursor
	}
}
