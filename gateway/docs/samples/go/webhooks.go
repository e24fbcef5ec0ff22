package samples

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errSecretLost = errors.New("the secret is in the first answer only")

// TestWebhook shows testWebhook.
func TestWebhook(ctx context.Context, client *gifting.Client) error {
	// sample: testWebhook
	result, err := client.Webhooks.Test(ctx)
	if err != nil {
		return err
	}
	if result.Error != nil {
		fmt.Println(*result.Error)
	}
	// end
	return nil
}

// ListWebhookDeliveries shows listWebhookDeliveries.
func ListWebhookDeliveries(ctx context.Context, client *gifting.Client) error {
	// sample: listWebhookDeliveries
	query := gifting.ListWebhookDeliveriesQuery{State: gifting.WebhookDeliveryStateEXHAUSTED}
	for delivery, err := range client.Webhooks.Deliveries(ctx, query).All() {
		if err != nil {
			return err
		}
		fmt.Println(delivery.ID, delivery.Type, len(delivery.Attempts))
	}
	// end
	return nil
}

// GetWebhookHealth shows getWebhookHealth.
func GetWebhookHealth(ctx context.Context, client *gifting.Client) error {
	// sample: getWebhookHealth
	health, err := client.Webhooks.Health(ctx)
	if err != nil {
		return err
	}
	fmt.Println(health.State, health.Pending)
	// end
	return nil
}

// ResendWebhookDelivery shows resendWebhookDelivery.
func ResendWebhookDelivery(ctx context.Context, client *gifting.Client, deliveryID string) error {
	// sample: resendWebhookDelivery
	delivery, err := client.Webhooks.Resend(ctx, deliveryID)
	if err != nil {
		return err
	}
	fmt.Println(delivery.State)
	// end
	return nil
}

// ReplayWebhooks shows replayWebhooks.
func ReplayWebhooks(ctx context.Context, client *gifting.Client) error {
	// sample: replayWebhooks
	replayed, err := client.Webhooks.Replay(ctx, gifting.ReplayWebhooksRequest{
		From: time.Now().Add(-2 * time.Hour),
		To:   time.Now(),
	})
	if err != nil {
		return err
	}
	fmt.Println(replayed.Deliveries)
	// end
	return nil
}

// RotateOwnWebhookSecret shows rotateOwnWebhookSecret.
func RotateOwnWebhookSecret(ctx context.Context, client *gifting.Client, store func(secret string) error) error {
	// sample: rotateOwnWebhookSecret
	rotated, err := client.Webhooks.RotateSecret(ctx, gifting.RotateWebhookSecretRequest{OverlapSeconds: new(int32(86400))})
	if err != nil {
		return err
	}
	if rotated.Secret == nil {
		return errSecretLost // The first answer was lost: rotate again.
	}
	if err := store(*rotated.Secret); err != nil {
		return err
	}
	// end
	return nil
}

// VerifyWebhook shows how a receiver begins.
func VerifyWebhook(w http.ResponseWriter, r *http.Request) {
	// sample: verifyWebhook
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	event, err := gifting.Verify(body, r.Header, os.Getenv("GIFTING_WEBHOOK_SECRET"))
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Println(event.ID, event.Type)
	// end
	w.WriteHeader(http.StatusNoContent)
}
