//go:build clients

package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/seed"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// newman runs collections as Postman does.
const newman = "newman@6.2.2"

// TestThePostmanCollection sends every request of the collection. What the status of the one order or link forbids may answer 409.
func TestThePostmanCollection(t *testing.T) {
	t.Parallel()
	p := harness.Start(t)
	dir := t.TempDir()
	file, report := filepath.Join(dir, "postman.json"), filepath.Join(dir, "report.json")
	require.NoError(t, os.WriteFile(file, []byte(harness.Visit(t, p.Env["GIFTING_URL"]+"/docs/postman.json").Body), 0o600))
	arguments := []string{"--yes", newman, "run", file, "--reporters", "json", "--reporter-json-export", report}
	for name, value := range postmanVariables(t, p) {
		arguments = append(arguments, "--env-var", name+"="+value)
	}
	output, err := exec.CommandContext(t.Context(), "npx", arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	var run struct {
		Run struct {
			Executions []struct {
				Item     struct{ Name string }
				Response struct{ Code int }
			}
		}
	}
	content, err := os.ReadFile(report)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &run))
	require.Greater(t, len(run.Run.Executions), 30)
	for _, e := range run.Run.Executions {
		require.Contains(t, []int{200, 201, 202, 409}, e.Response.Code, e.Item.Name)
	}
}

// postmanVariables are those of the collection, with records of the demo's tenant.
func postmanVariables(t *testing.T, p *harness.Platform) map[string]string {
	t.Helper()
	key := p.Env["GIFTING_KEY_2"]
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED, Name: "Team jersey", AvailableCountries: []string{"SE"},
		Variations: []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}},
	}
	_, err := p.Catalog(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
	image := p.Get(t, key, "/catalog/products/"+seed.Product+"?country=SE").OK(t)["images"].([]any)[0].(map[string]any)["url"].(string)
	var sku string
	for _, offering := range p.Get(t, key, "/campaigns/"+seed.Campaign).OK(t)["offerings"].([]any) {
		if offering := offering.(map[string]any); offering["supplyType"] == "STOCKED" {
			sku = offering["skus"].([]any)[0].(map[string]any)["id"].(string)
		}
	}
	link := p.Post(t, key, "/personal-links:create-batch", p.Batch(t)).OK(t)["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	order := p.Post(t, p.DemoKey(t), "/orders", p.Order(t)).OK(t)
	var delivery string
	require.Eventually(t, func() bool {
		items := p.Get(t, key, "/webhooks/deliveries?state=DELIVERED").OK(t)["items"].([]any)
		if len(items) > 0 {
			delivery = items[0].(map[string]any)["id"].(string)
		}
		return delivery != ""
	}, harness.Slow, 50*time.Millisecond, "nothing was delivered")
	return map[string]string{
		"baseUrl": p.Env["GIFTING_URL"], "apiKey": key, "brandId": p.Env["GIFTING_BRAND_ID"], "campaignId": seed.Campaign, "productId": gift.GetId(),
		"fieldId": uuid.NewString(), "fileId": filepath.Base(image), "orderId": order["id"].(string), "linkId": link["id"].(string),
		"deliveryId": delivery, "skuId": sku,
	}
}
