package local

import (
	"path/filepath"
	"strings"

	"github.com/partnergifting/platform/deploy/local/seed"
)

// Variable is one line of demo.env.
type Variable struct {
	Name  string
	Value string
}

// variables are what demo.env holds: no value needs quoting in a shell.
func (c Config) variables(d demo) []Variable {
	return []Variable{
		{"GIFTING_URL", c.publicURL()},
		{"GIFTING_KEY", d.Keys[keyMain].Key},
		{"GIFTING_KEY_2", d.Keys[keyWebhook].Key},
		{"GIFTING_KEY_APPROVAL", d.Keys[keyApproval].Key},
		{"GIFTING_TENANT_APPROVAL", seed.Approving},
		{"GIFTING_APPROVER_ID", seed.Approver},
		{"GIFTING_KEY_CATALOG", d.Keys[keyCatalog].Key},
		{"GIFTING_BRAND_ID", seed.Brand},
		{"GIFTING_PRODUCT_ID", seed.Product},
		{"GIFTING_CAMPAIGN_ID", seed.Campaign},
		{"GIFTING_INBOX_URL", c.inboxURL()},
		{"GIFTING_WEBHOOK_SECRET", d.Keys[keyWebhook].Secret},
		{"GIFTING_GRPC_TENANTS", c.addr(portTenants)},
		{"GIFTING_GRPC_CATALOG", c.addr(portCatalog)},
		{"GIFTING_GRPC_ORDERS", c.addr(portOrders)},
		{"GIFTING_GRPC_LINKS", c.addr(portPersonalLinks)},
		{"GIFTING_GRPC_EVENTS", c.addr(portEvents)},
		{"GIFTING_GRPC_WEBHOOK", c.addr(portWebhook)},
	}
}

// EnvFile is where a stack with the folder writes the addresses and keys of the demo while it is ready.
func EnvFile(dir string) string { return filepath.Join(dir, "demo.env") }

func writeEnv(dir string, variables []Variable) error {
	var text strings.Builder
	for _, v := range variables {
		text.WriteString("export " + v.Name + "=" + v.Value + "\n")
	}
	return writeFile(EnvFile(dir), []byte(text.String()))
}
