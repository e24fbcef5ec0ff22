package giftingctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
)

var (
	errNoSandbox = errors.New("this is not a sandbox: the check places an order")
	errURL       = errors.New("--url is no address such as https://sandbox.example.com/api/public/v1")
	errAPIKey    = errors.New("the file has no API key, or more than one line")
	errNoBrand   = errors.New("the key reaches no brand")
	errAnswer    = errors.New("the API answered")
	errStatus    = errors.New("the cancelled order has the status")
)

// checker uses the public API as an integrator does.
type checker struct {
	url, key string
	client   *http.Client
}

// checkCommand places an order with an API key of a sandbox and cancels it. The test pod of the Helm chart runs it.
func (a *app) checkCommand() *cobra.Command {
	var base, keyFile string
	command := &cobra.Command{
		Use: "check --url URL --key-file FILE", Args: arguments(0),
		Short: "Check a sandbox from outside: place an order and cancel it",
		Long: `check reads the brands of an API key, places an order with a made-up recipient, reads it and cancels it. The key needs the
scopes catalog and orders and at least one brand, and its tenant no custom field that every order must answer. It refuses
production.`,
		RunE: func(command *cobra.Command, _ []string) error {
			key, err := parser{a.In}.text(keyFile)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			c := checker{strings.TrimSuffix(base, "/"), strings.TrimSpace(string(key)), &http.Client{Timeout: a.timeout}}
			if err := c.validate(); err != nil {
				return terminal.AsUsageError(err)
			}
			order, err := c.placeAndCancel(command.Context())
			if err != nil {
				return err
			}
			return a.reportDone(map[string]string{"order": order}, "The order "+order+" was placed and cancelled.")
		},
	}
	command.Flags().StringVar(&base, "url", "", "base address of the API, with its path")
	command.Flags().StringVar(&keyFile, "key-file", "", "the file with the API key")
	terminal.Must(command.MarkFlagRequired("url"))
	terminal.Must(command.MarkFlagRequired("key-file"))
	return command
}

// validate refuses a URL or key of which no request can be made, because a retry would not help.
func (c checker) validate() error {
	address, err := url.Parse(c.url)
	if err != nil || address.Hostname() == "" || address.Scheme != "https" && address.Scheme != "http" {
		return errURL
	}
	if c.key == "" || strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errAPIKey
	}
	return nil
}

// placed is what the check needs of an order.
type placed struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

const cancelled = "CANCELLED"

// placeAndCancel returns the id of an order that it has placed and cancelled.
func (c checker) placeAndCancel(ctx context.Context) (string, error) {
	var me struct {
		Environment string `json:"environment"`
		Tenant      struct {
			Currency string `json:"currency"`
		} `json:"tenant"`
	}
	var brands []struct {
		ID string `json:"id"`
	}
	if err := c.call(ctx, http.MethodGet, "/me", nil, &me); err != nil {
		return "", err
	}
	if me.Environment != "sandbox" {
		return "", errNoSandbox
	}
	if err := c.call(ctx, http.MethodGet, "/brands", nil, &brands); err != nil {
		return "", err
	}
	if len(brands) == 0 {
		return "", errNoBrand
	}
	var order, read, ended placed
	if err := c.call(ctx, http.MethodPost, "/orders", testOrder(brands[0].ID, me.Tenant.Currency), &order); err != nil {
		return "", err
	}
	if err := c.call(ctx, http.MethodGet, "/orders/"+order.ID, nil, &read); err != nil {
		return "", err
	}
	reason := map[string]any{"reason": "A check of the sandbox."}
	if err := c.call(ctx, http.MethodPost, "/orders/"+order.ID+":cancel", reason, &ended); err != nil {
		return "", err
	}
	if ended.Status != cancelled {
		return "", fmt.Errorf("%w %s", errStatus, ended.Status)
	}
	return order.ID, nil
}

// testOrder is an order of a custom request for a made-up person.
func testOrder(brand, currency string) map[string]any {
	const budget = 100
	return map[string]any{
		"externalOrderId": "check-" + uuid.NewString(), "brandId": brand,
		"items": []any{
			map[string]any{"customProductName": "A check of the sandbox", "budget": map[string]any{"amount": budget, "currency": currency}},
		},
		"client": map[string]any{"name": "Check"},
		"recipient": map[string]any{"name": "Check", "phone": "+46 70 123 45 67", "address": map[string]any{
			"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE",
		}},
	}
}

// call makes one request and reads its answer, which must be a success.
func (c checker) call(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	response, err := c.client.Do(request)
	if err != nil {
		return retryableError{err}
	}
	defer func() { _ = response.Body.Close() }()
	const maxAnswer = 1 << 20
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return retryableError{err}
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%w %s to %s %s: %s", errAnswer, response.Status, method, path, raw)
		if response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError {
			err = retryableError{err}
		}
		return err
	}
	return json.Unmarshal(raw, answer)
}
