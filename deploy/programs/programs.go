// Package programs is the list of the platform's programs. All descriptions of deployments are derived from it or checked
// against it: the local stack, compose.yaml, the chart, the Prometheus targets and the configuration reference.
package programs

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog"
	"github.com/partnergifting/platform/services/events"
	"github.com/partnergifting/platform/services/orders"
	personallinks "github.com/partnergifting/platform/services/personal-links"
	"github.com/partnergifting/platform/services/tenants"
	"github.com/partnergifting/platform/services/webhook"
)

// All returns the programs in the order in which they start: callees before callers.
func All() []Program {
	return []Program{
		define(tenants.Program(), Program{
			Port: 1, Database: "tenants",
			Periodic: []string{"erasures", "idempotency", "offboardings", "retention", "retention clock", "seal keys", "versions"},
		}),
		define(catalog.Program(), Program{
			Port: 2, Database: "catalog", Periodic: []string{"idempotency", "maintenance", "retention clock"},
		}),
		define(orders.Program(), Program{
			Port: 3, Database: "orders", Outbox: true,
			Periodic: []string{"idempotency", "reservation outcomes", "reservations", "retention", "retention clock", "seal keys"},
		}),
		define(personallinks.Program(), Program{
			Port: 4, Database: "links", Outbox: true,
			Periodic: []string{"claims", "idempotency", "retention", "retention clock", "seal keys"},
		}),
		define(events.Program(), Program{
			Port: 5, Database: "events", Periodic: []string{"feed maintenance", "retention clock", "seal keys"},
		}),
		define(webhook.Program(), Program{
			Port: 6, Database: "webhook", Periodic: []string{"idempotency", "retention", "retention clock", "seal keys"},
		}),
		define(gateway.Program(), Program{GRPCPort: 7}),
	}
}

// Named returns the program with the name, which must be in the list.
func Named(name identity.Name) Program {
	all := All()
	return all[slices.IndexFunc(all, func(p Program) bool { return p.Name == name })]
}

// MetricsOffset is the distance from a program's port to its port for /metrics, /livez and /readyz on one machine.
const MetricsOffset = 10

// Program is a program of the platform.
type Program struct {
	Name identity.Name
	// Port is where its callers reach it, as an offset from the first port of a stack on one machine. GRPCPort is the offset of its
	// gRPC server; of all programs only the gateway has another one for it.
	Port, GRPCPort int
	// Database is empty for a program without one.
	Database string
	// Outbox means that the database has an outbox, which the relay publishes.
	Outbox bool
	// Periodic names the periodic work of the program.
	Periodic []string

	// Fields are its settings in the order of its configuration struct. Settings are the same fields by their variables.
	Fields   []settings.Field
	Settings map[string]settings.Field

	// Load reads the settings from env and returns all their errors.
	Load func(env map[string]string) error
	// Migrate brings the database up to date; without a database it does nothing.
	Migrate func(ctx context.Context, env map[string]string) error
	// Open builds the program with the settings in env.
	Open func(ctx context.Context, env map[string]string, tel *telemetry.Telemetry) (*service.Service, error)
}

// PeerSetting is the name of the setting by which other programs find this one, without prefix.
func (p Program) PeerSetting() string {
	return strings.ToUpper(strings.ReplaceAll(string(p.Name), "-", "_")) + "_ADDR"
}

// Calls reports whether the program calls the other one.
func (p Program) Calls(other Program) bool {
	_, calls := p.Settings[settings.Prefix+other.PeerSetting()]
	return calls
}

// Main is the folder of its main package in the repository.
func (p Program) Main() string {
	if p.Name == identity.Gateway {
		return "gateway/cmd/gateway"
	}
	return "services/" + string(p.Name) + "/cmd/" + string(p.Name)
}

// define completes p with what the program itself says of its name, settings, migrations and wiring.
func define[C any](program service.Program[C], p Program) Program {
	fields, err := settings.Fields(new(C))
	if err != nil {
		panic(err) // The tags of the struct are malformed.
	}
	p.Name = program.Name
	if p.GRPCPort == 0 {
		p.GRPCPort = p.Port
	}
	p.Fields, p.Settings = fields, map[string]settings.Field{}
	for _, field := range fields {
		p.Settings[field.Variable] = field
	}
	load := func(env map[string]string) (C, error) {
		var cfg C
		err := settings.LoadFrom(&cfg, func(variable string) string { return env[variable] })
		return cfg, err
	}
	p.Load = func(env map[string]string) error {
		_, err := load(env)
		return err
	}
	p.Migrate = func(ctx context.Context, env map[string]string) error {
		cfg, err := load(env)
		if err != nil || program.Database == nil {
			return err
		}
		return program.Migrate(ctx, cfg, io.Discard)
	}
	p.Open = func(ctx context.Context, env map[string]string, tel *telemetry.Telemetry) (*service.Service, error) {
		cfg, err := load(env)
		if err != nil {
			return nil, err
		}
		return program.Open(ctx, cfg, tel)
	}
	return p
}

// Variable of a program's environment.
type Variable struct {
	Name string
	// Value is empty if Secret is set.
	Value string
	// Secret means that the value comes from a secret store.
	Secret bool
}

// Check returns the problems of an environment: unknown and missing settings, and secrets in plain text.
func (p Program) Check(environment []Variable) []string {
	var problems []string
	set := map[string]bool{}
	for _, v := range environment {
		if set[v.Name] {
			problems = append(problems, v.Name+" is set twice")
		}
		set[v.Name] = true
		field, known := p.Settings[v.Name]
		switch {
		case !known && strings.HasPrefix(v.Name, settings.Prefix):
			problems = append(problems, fmt.Sprintf("%s is not a setting of %s", v.Name, p.Name))
		case known && field.Secret && !v.Secret:
			problems = append(problems, v.Name+" is a secret in plain text")
		}
	}
	for name, field := range p.Settings {
		if field.Required && !set[name] {
			problems = append(problems, fmt.Sprintf("%s lacks %s", p.Name, name))
		}
	}
	slices.Sort(problems)
	return problems
}

// Build builds the named programs, or all, into a folder, with flags of `go build`. sources is a folder of the workspace to
// build; empty means the working directory.
func Build(ctx context.Context, into, sources string, flags []string, names ...identity.Name) error {
	args := append(append([]string{"build"}, flags...), "-o", into+"/")
	for _, p := range All() {
		if len(names) == 0 || slices.Contains(names, p.Name) {
			args = append(args, "github.com/partnergifting/platform/"+p.Main())
		}
	}
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // The caller chooses the flags.
	command.Dir = sources
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build programs: %w\n%s", err, output)
	}
	return nil
}
