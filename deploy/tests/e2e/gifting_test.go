package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// commandLine is the program gifting with a key of the stack.
type commandLine struct {
	integrator

	program string
	env     []string
}

func (i integrator) testCommandLine(t *testing.T) {
	c := commandLine{i, filepath.Join(t.TempDir(), "gifting"), nil}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", c.program, "../../../gateway/sdk/gifting")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	c.env = c.with(i.Env["GIFTING_KEY"])
	t.Run("places, reads and cancels orders", c.testOrders)
	t.Run("creates, reads and cancels links", c.testLinks)
	t.Run("reads campaigns", c.testCampaigns)
	t.Run("calls any path", c.testAnyCall)
	t.Run("causes every event", c.testTriggers)
	t.Run("forwards events as webhooks", c.testListen)
	t.Run("shows webhooks and sends them again", c.testWebhooks)
	t.Run("copies the catalog", c.testCopies)
	t.Run("finds out what is wrong", c.testDoctor)
	t.Run("lets an assistant use the API", c.testAssistant)
	t.Run("stores a key", c.testLogin)
	t.Run("has the commands of its page", c.testPage)
	t.Run("goes through the guide to going live", c.testGoingLive)
}

func (c commandLine) with(key string) []string {
	return append(os.Environ(), "GIFTING_URL="+c.Env["GIFTING_URL"], "GIFTING_KEY="+key,
		"GIFTING_WEBHOOK_SECRET="+c.Env["GIFTING_WEBHOOK_SECRET"])
}

// run returns what a command prints, which must exit with the code.
func (c commandLine) run(t *testing.T, code int, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(in), &out, &errs, c.env
	_ = cmd.Run() // The exit code says it.
	require.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %s%s", args, out.String(), errs.String())
	return out.String() + errs.String()
}

// read decodes what a command prints as JSON.
func (c commandLine) read(t *testing.T, in string, into any, args ...string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(c.run(t, 0, in, append(args, "-o", "json")...)), into))
}

func (c commandLine) testOrders(t *testing.T) {
	example := c.run(t, 0, "", "orders", "example")
	require.Regexp(t, `valid +true`, c.run(t, 0, example, "orders", "validate"))
	var order gifting.Order
	c.read(t, example, &order, "orders", "place")
	require.Contains(t, c.run(t, 1, example, "orders", "place"), "existing order: "+order.ID)
	require.Contains(t, c.run(t, 0, "", "orders", "list", "--external-order-id", *order.ExternalOrderID), order.Reference)
	require.Contains(t, c.run(t, 0, "", "orders", "get", order.ID), order.Reference)
	c.testCorrections(t, order.ID)
	require.Contains(t, c.run(t, 0, "", "orders", "cancel", order.ID, "--reason", "A test."), "CANCELLED")
	require.Contains(t, c.run(t, 6, `{"externalOrderId": 1}`, "orders", "validate"), "brandId")
	require.Contains(t, c.run(t, 4, "", "orders", "get", "none"), "not_found")
}

func (c commandLine) testCorrections(t *testing.T, order string) {
	correct := []string{"orders", "update-delivery", order, "--expected-version", "0", "--recipient.address.street", "Storgatan 2"}
	require.Regexp(t, `version +1`, c.run(t, 0, "", correct...))
	require.Contains(t, c.run(t, 1, "", correct...), "version_conflict")
	request := `{"expectedVersion": 1, "urgent": true}`
	require.Regexp(t, `urgent +true`, c.run(t, 0, request, "orders", "update-delivery", order, "-f", "-"))
	require.Contains(t, c.run(t, 0, "", "orders", "messages", "post", order, "--body", "Please sign it."), "id")
	require.Regexp(t, `API_KEY .*Please sign it\.`, c.run(t, 0, "", "orders", "messages", "list", order))
}

func (c commandLine) testCampaigns(t *testing.T) {
	id := c.Env["GIFTING_CAMPAIGN_ID"]
	require.Contains(t, c.run(t, 0, "", "campaigns", "list", "--status", "ACTIVE"), id)
	require.Contains(t, c.run(t, 0, "", "campaigns", "get", id), "stockRemaining")
	require.Contains(t, c.run(t, 4, "", "campaigns", "get", "none"), "not_found")
}

func (c commandLine) testAnyCall(t *testing.T) {
	require.Contains(t, c.run(t, 0, "", "get", "/me"), `"environment": "sandbox"`)
	require.Contains(t, c.run(t, 0, "", "get", "/docs/webhooks.md"), "# Webhooks")
	order := c.run(t, 0, "", "orders", "example")
	placed := c.run(t, 0, order, "post", "/orders", "-", "--idempotency-key", "cli-any")
	require.Equal(t, placed, c.run(t, 0, order, "post", "/orders", "-", "--idempotency-key", "cli-any"), "it is placed once")
	require.Contains(t, c.run(t, 1, "", "post", "/orders", "{}"), "invalid_request")
	require.Contains(t, c.run(t, 4, "", "get", "/none"), "not_found")
}

func (c commandLine) testLinks(t *testing.T) {
	var results gifting.PersonalLinkResults
	c.read(t, "", &results, "links", "create", "--campaign-id", c.Env["GIFTING_CAMPAIGN_ID"], "--label", "Ann",
		"--external-recipient-id", "cli-1")
	id := results.Results[0].Link.ID
	require.Contains(t, c.run(t, 0, "", "links", "list", "--external-recipient-id", "cli-1"), id)
	require.Contains(t, c.run(t, 0, "", "links", "get", id), "ACTIVE")
	require.Contains(t, c.run(t, 0, "", "links", "cancel", id, "--reason", "A test."), "CANCELLED")
	batch := `{"campaignId":"` + c.Env["GIFTING_CAMPAIGN_ID"] + `","recipients":[{"label":"Bo"},{"label":""}]}`
	require.Contains(t, c.run(t, 1, batch, "links", "create", "-f", "-"), "recipients were rejected")
}

func (c commandLine) testTriggers(t *testing.T) {
	for event, status := range map[string]string{
		"order.created": "PROCESSING", "order.sent": "SENT", "order.completed": "COMPLETED", "order.cancelled": "CANCELLED",
		"order.status_changed": "SENT", "order.updated": "SENT", "order.message_posted": "PROCESSING",
		"personal_link.created": "ACTIVE", "personal_link.claimed": "CLAIMED", "personal_link.cancelled": "CANCELLED",
	} {
		require.Contains(t, c.run(t, 0, "", "trigger", event), status, event)
	}
	require.Contains(t, c.run(t, 0, "", "trigger", "ping"), "answer")
	require.Contains(t, c.run(t, 1, "", "trigger", "order.approved"), "need no approval")
	approving := c
	approving.env = c.with(c.Env["GIFTING_KEY_APPROVAL"])
	require.Contains(t, approving.run(t, 0, "", "trigger", "order.approved"), "PROCESSING")
	require.Contains(t, approving.run(t, 0, "", "trigger", "order.completed"), "COMPLETED")
}

func (c commandLine) testListen(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if _, err := gifting.Verify(body, req.Header, c.Env["GIFTING_WEBHOOK_SECRET"]); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(receiver.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, "listen", "--forward-to", receiver.URL)
	cmd.Env = c.env
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	notes, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := make([]byte, 4096)
	n, err := notes.Read(said)
	require.NoError(t, err)
	require.Contains(t, string(said[:n]), "Events go to "+receiver.URL)
	order, err := c.Orders.Place(ctx, c.order("cli-listen"))
	require.NoError(t, err)
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Regexp(t, `order\.created  \S+  `+order.ID+`  PROCESSING  delivered: HTTP 200`, lines.Text())
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(notes)
	require.NoError(t, err)
	require.Contains(t, string(rest), "--after ")
	_ = cmd.Wait()
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}

func (c commandLine) testWebhooks(t *testing.T) {
	require.Contains(t, c.run(t, 0, "", "webhooks", "health"), "HEALTHY")
	require.Regexp(t, `responseStatus +204`, c.run(t, 0, "", "webhooks", "test"))
	var deliveries struct{ Items []gifting.WebhookDelivery }
	require.Eventually(t, func() bool {
		c.read(t, "", &deliveries, "webhooks", "deliveries", "--state", "DELIVERED", "--type", "order.status_changed")
		return len(deliveries.Items) > 0
	}, 30*time.Second, 200*time.Millisecond)
	require.Contains(t, c.run(t, 0, "", "webhooks", "deliveries"), "HTTP 204")
	require.Contains(t, c.run(t, 0, "", "webhooks", "resend", deliveries.Items[0].ID), deliveries.Items[0].EventID)
	require.Regexp(t, `deliveries +\d+`, c.run(t, 0, "", "webhooks", "replay", "--from", "10m", "--type", "order.status_changed"))
	require.Regexp(t, `secret +[0-9a-f]{64}\n`, c.run(t, 0, "", "webhooks", "rotate-secret", "--overlap", "1h"))
}

func (c commandLine) testCopies(t *testing.T) {
	require.Contains(t, c.run(t, 0, "", "catalog", "list", "--country", "SE", "--limit", "5"), "There are more")
	for _, form := range []string{"sqlite", "ndjson"} {
		sync := []string{"sync", "catalog", "--country", "SE", "--to", form, "--out", filepath.Join(t.TempDir(), "catalog")}
		require.Regexp(t, `products +60`, c.run(t, 0, "", sync...))
		require.Regexp(t, `products +60`, c.run(t, 0, "", sync...))
		require.Contains(t, c.run(t, 2, "", append(sync, "--locale", "sv-SE")...), "another file")
	}
}

func (c commandLine) testDoctor(t *testing.T) {
	require.Regexp(t, `webhook +ok +the receiver answered HTTP 204`, c.run(t, 0, "", "doctor"))
	require.Regexp(t, `signature +FAILED +a wrong signature was accepted`,
		c.run(t, 6, "", "doctor", "--forward-to", c.Env["GIFTING_INBOX_URL"]), "the demo's receiver keeps everything")
	c.env = c.with("gft_sbx_wrong")
	require.Regexp(t, `key +FAILED`, c.run(t, 6, "", "doctor"))
}

func (c commandLine) testAssistant(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), c.program, "mcp")
	cmd.Env = c.env
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	answers := bufio.NewReader(out)
	ask := func(lines string) string {
		_, err := io.WriteString(in, lines+"\n")
		require.NoError(t, err)
		answer, err := answers.ReadString('\n')
		require.NoError(t, err)
		return answer
	}
	tool := func(name, arguments string) string {
		return ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`)
	}
	require.Contains(t, ask("hello"), "-32700")
	require.Contains(t, ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`), "search_documentation")
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(t, err)
	requireTools(t, ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`))
	require.Contains(t, tool("search_documentation", `{"query":"verify webhook signature"}`), "/docs/webhooks")
	campaign := `{"campaignId":"` + c.Env["GIFTING_CAMPAIGN_ID"] + `","recipients":[{"label":"Ann"}]}`
	require.Contains(t, tool("create_links", campaign), "claimUrl")
	require.Contains(t, tool("diagnose", "{}"), "the receiver answered HTTP 204")
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

func (c commandLine) testLogin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gifting.yaml")
	c.env = append(c.env, "GIFTING_KEY=", "GIFTING_CONFIG="+path)
	require.Contains(t, c.run(t, 2, "", "orders", "list"), "gifting login")
	require.Contains(t, c.run(t, 0, c.Env["GIFTING_KEY"]+"\n", "login", "--no-keyring"), "sandbox")
	c.run(t, 0, "", "orders", "list")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	c.run(t, 0, "", "logout")
}
