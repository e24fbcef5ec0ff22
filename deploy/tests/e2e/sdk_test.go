package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// integrator is somebody who uses the platform with the Go SDK.
type integrator struct {
	stack
	*gifting.Client
}

// TestIntegrators uses one platform as integrators do.
func TestIntegrators(t *testing.T) {
	t.Parallel()
	s := stack{harness.Start(t)}
	client, err := gifting.New(s.Env["GIFTING_URL"], s.Env["GIFTING_KEY"])
	require.NoError(t, err)
	i := integrator{s, client}
	t.Run("the SDK repeats what the sandbox forces", i.testForced)
	t.Run("the SDK knows all events", i.testEvents)
	t.Run("the SDK keeps a copy of the catalog", i.testSync)
	t.Run("the command line", i.testCommandLine)
	t.Run("the samples of the documentation run", i.testSamples)
}

// order is one that can be placed.
func (i integrator) order(externalID string) gifting.PlaceOrderRequest {
	return gifting.PlaceOrderRequest{
		ExternalOrderID: externalID, BrandID: new(i.Env["GIFTING_BRAND_ID"]),
		Items: []gifting.OrderItemInput{
			{CustomProductName: new("A signed football"), Budget: &gifting.Budget{Amount: "1500", Currency: "SEK"}},
		},
		Client: gifting.OrderClient{Name: "Ann Berg"},
		Recipient: gifting.OrderRecipient{
			Name: "Ann Berg", Phone: "+353 1 234 5678",
			Address: gifting.OrderAddress{Street: "1 Main Street", City: "Dublin", Country: "IE"},
		},
	}
}

func (i integrator) testForced(t *testing.T) {
	for _, fault := range []string{"429", "500", "503", "in-progress", "timeout", "lost"} {
		t.Run(fault, func(t *testing.T) {
			client, err := gifting.New(i.Env["GIFTING_URL"], i.Env["GIFTING_KEY"], gifting.WithTimeout(4*time.Second))
			require.NoError(t, err)
			var response gifting.Response
			placed, err := client.Orders.Place(t.Context(), i.order("sdk-"+fault), gifting.WithSandboxFault(fault),
				gifting.WithResponse(&response))
			require.NoError(t, err)
			require.Equal(t, fault == "timeout" || fault == "lost", response.Replayed(), "these take effect without an answer")
			if fault != "lost" { // The transport itself may have repeated that.
				require.Equal(t, 2, response.Attempts)
			}
			var found []gifting.Order
			for order, err := range client.Orders.List(t.Context(), gifting.ListOrdersQuery{ExternalOrderID: "sdk-" + fault}).All() {
				require.NoError(t, err)
				found = append(found, order)
			}
			require.Equal(t, []gifting.Order{*placed}, found)
		})
	}
	for _, fault := range []string{"429", "500", "503", "lost"} {
		_, err := i.Account.Me(t.Context(), gifting.WithSandboxFault(fault))
		require.NoError(t, err, fault)
	}
}

// testEvents causes every type of event and reads them from the waiting feed.
func (i integrator) testEvents(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cursor := ""
	for page, err := range i.Events.Feed(ctx, gifting.FeedOptions{StopAtEnd: true}) {
		require.NoError(t, err)
		cursor = page.NextCursor
	}
	end, err := i.Events.List(ctx, gifting.ListEventsQuery{From: gifting.FeedEnd})
	require.NoError(t, err)
	require.Empty(t, end.Items)
	order, err := i.Orders.Place(ctx, i.order("sdk-events"))
	require.NoError(t, err)
	_, err = i.Sandbox.DispatchOrder(ctx, order.ID, gifting.DispatchSandboxOrderRequest{})
	require.NoError(t, err)
	_, err = i.Sandbox.CorrectTracking(ctx, order.ID, gifting.CorrectSandboxTrackingRequest{})
	require.NoError(t, err)
	_, err = i.Sandbox.PostMessage(ctx, order.ID, gifting.PostSandboxMessageRequest{Body: "It is on its way."})
	require.NoError(t, err)
	links, err := i.PersonalLinks.Create(ctx, gifting.CreatePersonalLinksRequest{
		CampaignID: new(i.Env["GIFTING_CAMPAIGN_ID"]), Recipients: []gifting.PersonalLinkRecipient{{Label: "Ann"}, {Label: "Bo"}},
	})
	require.NoError(t, err)
	_, err = i.Sandbox.ClaimLink(ctx, links.Results[0].Link.ID, gifting.ClaimSandboxPersonalLinkRequest{})
	require.NoError(t, err)
	_, err = i.PersonalLinks.Cancel(ctx, links.Results[1].Link.ID, gifting.CancelPersonalLinkRequest{Reason: "A test."})
	require.NoError(t, err)

	missing := map[gifting.EventType]bool{
		gifting.EventOrderCreated: true, gifting.EventOrderStatusChanged: true, gifting.EventOrderUpdated: true,
		gifting.EventOrderMessagePosted:  true,
		gifting.EventPersonalLinkCreated: true, gifting.EventPersonalLinkClaimed: true, gifting.EventPersonalLinkCancelled: true,
	}
	for page, err := range i.Events.Feed(ctx, gifting.FeedOptions{After: cursor}) {
		require.NoError(t, err, "missing: %v", missing)
		for _, event := range page.Items {
			switch data := event.Data.(type) {
			case *gifting.UnknownEvent:
				require.Fail(t, "the SDK does not know the type", event.Type)
			case *gifting.OrderMessagePosted:
				require.Equal(t, "It is on its way.", data.Message.Body)
			}
			delete(missing, event.Type)
		}
		if len(missing) == 0 {
			break
		}
	}
}

func (i integrator) testSync(t *testing.T) {
	products := map[string]*gifting.Product{}
	apply := func(ctx context.Context, entries []gifting.ProductEntry) error {
		for _, entry := range entries {
			products[entry.ID()] = entry.Product
		}
		return ctx.Err()
	}
	sync := gifting.CatalogSync{Country: "SE"}
	update := func() {
		newest, err := i.Catalog.Sync(t.Context(), sync, apply)
		require.NoError(t, err)
		sync.Newest = newest
	}
	update()
	gift := i.Env["GIFTING_PRODUCT_ID"]
	require.NotNil(t, products[gift])
	_, err := i.Sandbox.UnlistProduct(t.Context(), gift)
	require.NoError(t, err)
	update()
	require.Nil(t, products[gift])
	_, err = i.Sandbox.RelistProduct(t.Context(), gift, gifting.RelistSandboxProductRequest{})
	require.NoError(t, err)
	update()
	require.NotNil(t, products[gift])
	var listed []string
	for entry, err := range i.Catalog.Products(t.Context(), gifting.ListProductsQuery{Country: "SE"}).All() {
		require.NoError(t, err)
		listed = append(listed, entry.ID())
	}
	require.Len(t, listed, len(products))
}

// The SDK needs nothing of this repository, so that an empty project can install it.
func TestTheGoSDKBuildsInAnEmptyProject(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs(filepath.Join(root, "gateway/sdk/go"))
	require.NoError(t, err)
	project := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "main.go"), []byte(`package main

import (
	"context"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func main() {
	client, err := gifting.New("https://127.0.0.1:1", "key", gifting.WithMaxAttempts(1))
	if err != nil {
		panic(err)
	}
	_, err = client.Account.Me(context.Background())
	fmt.Println(err)
}
`), 0o600))
	command := func(arguments ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", arguments...)
		cmd.Dir, cmd.Env = project, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, string(output))
		return string(output)
	}
	command("mod", "init", "example.com/shop")
	command("mod", "edit", "-replace", "github.com/partnergifting/platform/gateway/sdk/go="+sdk)
	command("mod", "edit", "-require", "github.com/partnergifting/platform/gateway/sdk/go@v0.0.0")
	require.Contains(t, command("run", "."), "GET /me: ")
	require.Equal(t, "github.com/partnergifting/platform/gateway/sdk/go\n",
		command("list", "-deps", "-f", `{{if not .Standard}}{{if ne .ImportPath "example.com/shop"}}{{.ImportPath}}{{end}}{{end}}`, "."))
}
