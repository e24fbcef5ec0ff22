// Command relay sends events to a receiver on the same machine.
//
// sample: relayEvents
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const receiver = "http://localhost:3000/webhooks"

func main() {
	ctx := context.Background()
	client, err := gifting.New(os.Getenv("GIFTING_URL"), os.Getenv("GIFTING_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	for page, err := range client.Events.Feed(ctx, gifting.FeedOptions{From: gifting.FeedEnd}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, event := range page.Items {
			post, err := http.NewRequestWithContext(ctx, http.MethodPost, receiver, bytes.NewReader(event.Raw))
			if err != nil {
				log.Fatal(err)
			}
			post.Header = gifting.WebhookHeaders(event.Raw, event.ID, time.Now(), os.Getenv("GIFTING_LOCAL_SECRET"))
			answer, err := http.DefaultClient.Do(post)
			if err != nil {
				log.Fatal(err)
			}
			_ = answer.Body.Close()
			fmt.Println(event.Type, answer.Status)
		}
	}
}

// end
