package local

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
)

// Variable is one line of demo.env.
type Variable struct {
	Name  string
	Value string
}

// variables are what demo.env holds.
func (c wiring) variables(d demo) []Variable {
	all := []Variable{
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
	}
	for _, a := range addresses() {
		all = append(all, Variable{a.variable, c.addr(portOf(a.service))})
	}
	all = append(all, Variable{caVariable, c.certificates.ca()})
	for _, name := range []identity.Name{identity.Workspace, identity.Backoffice, identity.Operator} {
		prefix := "GIFTING_" + strings.ToUpper(string(name))
		all = append(all, Variable{prefix + "_CERT", c.certificates.cert(name)}, Variable{prefix + "_KEY", c.certificates.key(name)})
	}
	return all
}

// caVariable holds the path of the stack's authority, beside which lie the certificates of all callers.
const caVariable = "GIFTING_CA"

// address of a service, by its variable.
type address struct {
	variable string
	service  identity.Name
}

func addresses() []address {
	return []address{
		{"GIFTING_GRPC_TENANTS", identity.Tenants},
		{"GIFTING_GRPC_CATALOG", identity.Catalog},
		{"GIFTING_GRPC_ORDERS", identity.Orders},
		{"GIFTING_GRPC_LINKS", identity.PersonalLinks},
		{"GIFTING_GRPC_EVENTS", identity.Events},
		{"GIFTING_GRPC_WEBHOOK", identity.Webhook},
	}
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]*$`)

// quoteWord is how a shell reads the text as one word.
func quoteWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// EnvFile is where a stack with the folder writes the addresses and keys of the demo while it is ready.
func EnvFile(dir string) string { return filepath.Join(dir, "demo.env") }

func writeEnv(dir string, variables []Variable) error {
	var text strings.Builder
	for _, v := range variables {
		text.WriteString("export " + v.Name + "=" + quoteWord(v.Value) + "\n")
	}
	return writeFile(EnvFile(dir), []byte(text.String()))
}
