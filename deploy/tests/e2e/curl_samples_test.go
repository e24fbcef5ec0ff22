package e2e_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// shownOperation is an operation of the document that the page of the reference loads.
type shownOperation struct {
	OperationID string                     `json:"operationId"`
	Responses   map[string]json.RawMessage `json:"responses"`
	Samples     []struct {
		Label  string `json:"label"`
		Source string `json:"source"`
	} `json:"x-codeSamples"`
}

// success is the status of the response without an error.
func (o shownOperation) success(t *testing.T) string {
	t.Helper()
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) { // 206 comes after 200: no sample requests a part.
		if strings.HasPrefix(status, "20") {
			return status
		}
	}
	require.Fail(t, "no success", o.OperationID)
	return ""
}

// shownOperations are those of the reference of the platform.
func (s stack) shownOperations(t *testing.T) (found []shownOperation) {
	t.Helper()
	var document struct {
		Paths map[string]struct{ Get, Post *shownOperation }
	}
	page := harness.Visit(t, s.Env["GIFTING_URL"]+"/docs/reference.json")
	require.NoError(t, json.Unmarshal([]byte(page.Body), &document))
	for _, path := range document.Paths {
		for _, operation := range []*shownOperation{path.Get, path.Post} {
			if operation != nil {
				found = append(found, *operation)
			}
		}
	}
	require.Greater(t, len(found), 30)
	return found
}

func TestTheCurlSamplesOfTheReferenceRun(t *testing.T) {
	t.Parallel()
	s := stack{harness.Start(t)}
	key := s.DemoKey(t)
	image, _ := s.Get(t, key, "/catalog/products/"+seed.Product+"?country=SE").
		OK(t)["images"].([]any)[0].(map[string]any)["url"].(string)
	records := map[string]string{
		"BRAND_ID": s.Env["GIFTING_BRAND_ID"], "CAMPAIGN_ID": s.Env["GIFTING_CAMPAIGN_ID"],
		"FIELD_ID": s.textField(t, key), "SKU_ID": s.stockedSKU(t, key), "FILE_ID": filepath.Base(image),
	}
	for _, operation := range s.shownOperations(t) {
		t.Run(operation.OperationID, func(t *testing.T) {
			require.Equal(t, "curl", operation.Samples[0].Label)
			variables := s.prepare(t, operation.OperationID)
			variables["PRODUCT_ID"] = s.sizedGift(t) // Another sample unlists its own.
			for name, value := range records {
				if variables[name] == "" {
					variables[name] = value
				}
			}
			status, body := s.runCurl(t, operation.Samples[0].Source, variables)
			require.Equal(t, operation.success(t), status, "%s\n%s", operation.Samples[0].Source, body)
		})
	}
}

// runCurl runs a sample as it is shown. The shell's own function prints the status.
func (s stack) runCurl(t *testing.T, sample string, variables map[string]string) (status, body string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "body")
	script := `set -eu
uuidgen() { cat /proc/sys/kernel/random/uuid; }
curl() { command curl -o "$BODY" -w '%{http_code}' "$@"; }
` + sample
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Env = append(os.Environ(), "BODY="+file, "GIFTING_URL="+s.Env["GIFTING_URL"])
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", sample, output)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(output), string(content)
}

// prepare makes the records that the sample of an operation needs, and chooses the key that calls it.
func (s stack) prepare(t *testing.T, operation string) map[string]string {
	t.Helper()
	key := s.DemoKey(t)
	variables := map[string]string{"GIFTING_KEY": key}
	switch operation {
	case "approveSandboxOrder":
		key = s.NewKey(t, seed.Approving).GetApiKey()
		return map[string]string{"GIFTING_KEY": key, "ORDER_ID": s.placed(t, key)}
	case "approveSandboxPersonalLink":
		key = s.NewKey(t, seed.Approving).GetApiKey()
		return map[string]string{"GIFTING_KEY": key, "LINK_ID": s.linked(t, key)}
	case "resendWebhookDelivery":
		key = s.Env["GIFTING_KEY"]
		return map[string]string{"GIFTING_KEY": key, "DELIVERY_ID": s.delivered(t, key)}
	case "rotateOwnWebhookSecret": // A key of its own, so that the demo's receiver still verifies.
		return map[string]string{"GIFTING_KEY": s.NewKey(t, seed.Direct).GetApiKey()}
	}
	variables["ORDER_ID"], variables["LINK_ID"] = s.placed(t, key), s.linked(t, key)
	order := "/orders/" + variables["ORDER_ID"]
	switch operation {
	case "deliverSandboxOrder", "correctSandboxTracking":
		s.Post(t, key, "/sandbox"+order+":dispatch", "{}").OK(t)
	case "correctSandboxStatus":
		s.Post(t, key, order+":cancel", `{"reason": "By mistake."}`).OK(t)
	}
	return variables
}

// placed places an order and returns its id.
func (s stack) placed(t *testing.T, key string) string {
	t.Helper()
	brand := s.Array(t, key, "/brands")[0]["id"]
	id, _ := s.Post(t, key, "/orders", s.Order(t, func(order map[string]any) { order["brandId"] = brand })).OK(t)["id"].(string)
	return id
}

// linked creates a link to a gift and returns its id.
func (s stack) linked(t *testing.T, key string) string {
	t.Helper()
	batch := harness.JSON(t, map[string]any{
		"brandId": s.Array(t, key, "/brands")[0]["id"], "productIds": []any{seed.Product},
		"recipients": []any{map[string]any{"label": "Ann"}},
	})
	result := s.Post(t, key, "/personal-links:create-batch", batch).OK(t)["results"].([]any)[0].(map[string]any)
	require.Equal(t, "CREATED", result["outcome"], result)
	id, _ := result["link"].(map[string]any)["id"].(string)
	return id
}

// delivered waits for a webhook of the key and returns the id of its delivery.
func (s stack) delivered(t *testing.T, key string) (id string) {
	t.Helper()
	s.placed(t, s.DemoKey(t))
	require.Eventually(t, func() bool {
		items, _ := s.Get(t, key, "/webhooks/deliveries?state=DELIVERED").OK(t)["items"].([]any)
		if len(items) > 0 {
			id, _ = items[0].(map[string]any)["id"].(string)
		}
		return id != ""
	}, harness.Slow, 50*time.Millisecond, "nothing was delivered")
	return id
}

// sizedGift is a gift with the variations of the examples.
func (s stack) sizedGift(t *testing.T) string {
	t.Helper()
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED, Name: "Team jersey",
		AvailableCountries: []string{"SE"},
		Variations:         []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}},
	}
	_, err := s.Catalog(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
	return gift.GetId()
}

// textField is the id of an order field of the tenant for texts.
func (s stack) textField(t *testing.T, key string) string {
	t.Helper()
	tenant, _ := s.Get(t, key, "/me").OK(t)["tenant"].(map[string]any)
	for _, field := range tenant["customFields"].([]any) {
		if field, _ := field.(map[string]any); field["type"] == "TEXT" {
			return field["id"].(string)
		}
	}
	require.Fail(t, "the tenant has no field for texts")
	return ""
}

// stockedSKU is a SKU of the demo's campaign with limited stock.
func (s stack) stockedSKU(t *testing.T, key string) string {
	t.Helper()
	for _, offering := range s.Get(t, key, "/campaigns/"+seed.Campaign).OK(t)["offerings"].([]any) {
		if offering, _ := offering.(map[string]any); offering["supplyType"] == "STOCKED" {
			return offering["skus"].([]any)[0].(map[string]any)["id"].(string)
		}
	}
	require.Fail(t, "the campaign has no limited stock")
	return ""
}
