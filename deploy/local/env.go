package local

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

// caVariable holds the path of the stack's authority. The certificates of all callers are in the same folder.
const caVariable = "GIFTING_CA"

// variables are the content of demo.env.
func (w wiring) variables(d demo) map[string]string {
	all := map[string]string{
		"GIFTING_URL":             w.publicURL(),
		"GIFTING_KEY":             d.Keys[keyMain].Key,
		"GIFTING_KEY_APPROVAL":    d.Keys[keyApproval].Key,
		"GIFTING_TENANT_APPROVAL": seed.Approving,
		"GIFTING_APPROVER_ID":     seed.Approver,
		"GIFTING_KEY_CATALOG":     d.Keys[keyCatalog].Key,
		"GIFTING_BRAND_ID":        seed.Brand,
		"GIFTING_PRODUCT_ID":      seed.Product,
		"GIFTING_CAMPAIGN_ID":     seed.Campaign,
		"GIFTING_CURRENCY":        seed.Currency,
		"GIFTING_INBOX_URL":       w.inboxURL(),
		"GIFTING_WEBHOOK_SECRET":  d.secret,
		caVariable:                w.certificates.Cert(bootstrap.AuthorityName),
	}
	for _, p := range programs.All() {
		all[grpcVariable(p)] = w.addr(p.GRPCPort)
	}
	for _, cell := range w.cells {
		for _, p := range programsOfCell() {
			all[grpcVariable(p)+"_"+strings.ToUpper(cell.letter)] = cell.address(p, p.GRPCPort)
		}
	}
	for _, name := range []identity.Name{identity.Workspace, identity.Backoffice, identity.Operator} {
		prefix := "GIFTING_" + strings.ToUpper(string(name))
		all[prefix+"_CERT"], all[prefix+"_KEY"] = w.certificates.Cert(name), w.certificates.Key(name)
	}
	return all
}

// grpcVariable holds the address of a program's gRPC server in demo.env. That of a further cell ends with its letter: …_ORDERS_B.
func grpcVariable(p programs.Program) string {
	return "GIFTING_GRPC_" + strings.ToUpper(cmp.Or(p.Database, string(p.Name)))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]*$`)

// quoteWord quotes the text as one word of a shell.
func quoteWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// EnvFile is the demo.env of a stack in the folder. It exists while the stack is ready.
func EnvFile(dir string) string { return filepath.Join(dir, "demo.env") }

// exports is a shell script that sets the variables.
func exports(variables map[string]string) []byte {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		text.WriteString("export " + name + "=" + quoteWord(variables[name]) + "\n")
	}
	return []byte(text.String())
}

// ProgramEnvFile has the environment of a program of a stack in the folder, in which its commands can be run.
func ProgramEnvFile(dir string, name identity.Name) string {
	return filepath.Join(dir, "programs", string(name)+".env")
}

// inCell names a program of a further cell, such as orders-b.
func inCell(name identity.Name, letter string) identity.Name {
	return name + "-" + identity.Name(letter)
}

// name is how messages and files name a program.
func (w wiring) name(p programs.Program) string {
	if w.letter == "" {
		return string(p.Name)
	}
	return string(inCell(p.Name, w.letter))
}

func (s *Stack) writeEnvironments(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "programs"), 0o700); err != nil {
		return fmt.Errorf("environments of the programs: %w", err)
	}
	environments := maps.Clone(s.Programs)
	for letter, ofCell := range s.Cells {
		for name, env := range ofCell {
			environments[inCell(name, letter)] = env
		}
	}
	for name, env := range environments {
		if err := bootstrap.WriteFile(ProgramEnvFile(dir, name), exports(env)); err != nil {
			return err
		}
	}
	return nil
}

// announce writes demo.env, the contexts and the environments of the programs, and shows how to place a first order.
func (s *Stack) announce(w wiring, d demo, took time.Duration) error {
	if err := s.writeEnvironments(w.Dir); err != nil {
		return err
	}
	if err := w.contexts().Write(ContextsFile(w.Dir)); err != nil {
		return err
	}
	contexts, err := filepath.Abs(ContextsFile(w.Dir))
	if err != nil {
		return err
	}
	s.Env = w.variables(d)
	s.Env["GIFTINGCTL_CONFIG"] = contexts
	if err := bootstrap.WriteFile(EnvFile(w.Dir), exports(s.Env)); err != nil {
		return err
	}
	var services strings.Builder
	for _, cell := range w.all() {
		for _, p := range cell.databases.programs {
			fmt.Fprintf(&services, "             %-16s %s\n", cell.name(p), cell.address(p, p.GRPCPort))
		}
	}
	_, err = fmt.Fprintf(w.Out, readyText, took.Round(100*time.Millisecond), w.publicURL(), w.consoleURL(),
		w.certificates.Dir, services.String(), w.inboxURL(), filepath.Join(w.Dir, "stack.log"), quoteWord(EnvFile(w.Dir)))
	return err
}

const readyText = `
Partner Gifting is ready (%s).

  REST API   %s
  Console    %s shows and changes what a key sees
  gRPC       with the certificates in %s
%s  Webhooks   %s shows what arrived
  Log        %s

A first order:

  . %s
  curl -i "$GIFTING_URL/orders" -H "Authorization: Bearer $GIFTING_KEY" \
    -H "Idempotency-Key: $(date +%%s)-$RANDOM" -H 'Content-Type: application/json' -d '{
      "externalOrderId": "order-'$(date +%%s)-$RANDOM'", "brandId": "'$GIFTING_BRAND_ID'",
      "items": [{"productId": "'$GIFTING_PRODUCT_ID'"}], "client": {"name": "Ada Player"},
      "recipient": {"name": "Ada Player", "phone": "+46701234567", "address":
        {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"}}}'

Ctrl-C stops everything.
`

// ContextsFile has the contexts of giftingctl for a stack in the folder.
func ContextsFile(dir string) string { return filepath.Join(dir, "giftingctl.yaml") }

// contexts has a context for each system in which people work. The current one is the back office, which may call the most.
func (w wiring) contexts() giftingctl.Config {
	addresses, metrics := map[identity.Name]string{}, map[identity.Name]string{}
	cells := map[string]map[identity.Name]string{}
	for _, cell := range w.cells {
		cells[cell.letter] = map[identity.Name]string{}
		for _, p := range programsOfCell() {
			cells[cell.letter][p.Name] = cell.address(p, p.GRPCPort)
		}
	}
	for _, p := range programs.All() {
		addresses[p.Name], metrics[p.Name] = w.addr(p.GRPCPort), w.addr(p.Port+programs.MetricsOffset)
	}
	contextOf := func(caller identity.Name, tenant string, actor giftingctl.Actor) giftingctl.Context {
		return giftingctl.Context{
			Addresses: addresses, Cells: cells, Metrics: metrics, Actor: actor, Tenant: tenant,
			CA: w.certificates.Cert(bootstrap.AuthorityName), Certificate: w.certificates.Cert(caller), Key: w.certificates.Key(caller),
		}
	}
	return giftingctl.Config{Current: string(identity.Backoffice), Contexts: map[string]giftingctl.Context{
		string(identity.Backoffice): contextOf(identity.Backoffice, seed.Direct,
			giftingctl.Actor{Kind: "backoffice-account", ID: "staff-7"}),
		string(identity.Operator): contextOf(identity.Operator, seed.Direct, giftingctl.Actor{Kind: "system"}),
		string(identity.Workspace): contextOf(identity.Workspace, seed.Approving,
			giftingctl.Actor{Kind: "tenant-account", ID: seed.Approver}),
	}}
}
