package docs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/partnergifting/platform/pkg/apikey"
)

// Operator is what only the operator of a deployment can tell its readers. The documentation says so where a field is empty.
type Operator struct {
	SandboxURL       string   `env:"SANDBOX_URL" check:"web" doc:"Base address of the API of the sandbox, which the documentation of production shows."`
	WebhookAddresses []string `env:"WEBHOOK_ADDRESSES" check:"networks" doc:"Addresses or prefixes that webhooks come from, which the documentation shows to readers with a firewall."`
	StatusURL        string   `env:"STATUS_URL" check:"web" doc:"Address of the page that shows the status of the platform."`
	Support          string   `env:"SUPPORT" doc:"How integrators reach support, in Markdown, such as: support@example.com, Monday to Friday 9:00 to 17:00 CET."`
}

// payloadsMark stands in a guide for the bodies of webhooks.
const payloadsMark = "<!-- payloads -->"

// fill puts what the operator says, and what is made of the document, in the place of comments in a guide.
func (b *builder) fill(name, markdown string) (string, error) {
	payloads := ""
	if strings.Contains(markdown, payloadsMark) {
		made, err := b.payloads()
		if err != nil {
			return "", err
		}
		payloads = made
	}
	url := b.document.PublicURL
	if b.document.Environment == apikey.Production && (name == "quickstart" || name == "sandbox") {
		url = cmp.Or(b.operator.SandboxURL, "https://host-of-the-sandbox/api/public/v1")
	}
	return strings.NewReplacer(
		exampleURL, url,
		"<!-- sandbox address -->", b.operator.sandboxAddress(),
		"<!-- webhook addresses -->", b.operator.webhookAddresses(),
		"<!-- status page -->", b.operator.statusPage(),
		"<!-- support -->", b.operator.support(),
		payloadsMark, payloads,
	).Replace(markdown), nil
}

func (o Operator) sandboxAddress() string {
	if o.SandboxURL == "" {
		return "Support tells you the base addresses of both."
	}
	return fmt.Sprintf("The base address of the sandbox is `%s`.", o.SandboxURL)
}

func (o Operator) webhookAddresses() string {
	if len(o.WebhookAddresses) == 0 {
		return "Webhooks have no fixed addresses. Do not filter by address: verify the signature."
	}
	return "Webhooks come from these addresses only:\n\n- `" + strings.Join(o.WebhookAddresses, "`\n- `") + "`"
}

func (o Operator) statusPage() string {
	if o.StatusURL == "" {
		return "There is no public status page. Ask support."
	}
	return fmt.Sprintf("The [status page](%s) shows outages and maintenance.", o.StatusURL)
}

func (o Operator) support() string {
	return "Support: " + cmp.Or(o.Support, "your contact at Partner Gifting") + "."
}

// payloads are the bodies of webhooks of all types, with all their members.
func (b *builder) payloads() (string, error) {
	out := &strings.Builder{}
	for _, hook := range operationsIn(b.document.Root, "webhooks") {
		fmt.Fprintf(out, "\n**`%s`**: %s\n", hook.Path, b.prose(hook.Get("description")))
		if err := writeExamples(out, hook.Get("requestBody", "content", jsonType)); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(out.String()), nil
}
