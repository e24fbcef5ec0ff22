// Package programs is the list of the platform's programs. All descriptions of deployments are derived from it or checked
// against it: the local stack, compose.yaml, the chart, the Prometheus targets and the configuration reference.
package programs

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
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
		define(Program{Name: identity.Tenants, Port: 1, Database: "tenants", Periodic: []string{"erasures", "idempotency", "offboardings", "retention", "retention clock", "seal keys", "versions"}}, tenants.Migrate, tenants.Compare, tenants.New),
		define(Program{Name: identity.Catalog, Port: 2, Database: "catalog", Periodic: []string{"idempotency", "maintenance", "retention clock"}}, catalog.Migrate, catalog.Compare, catalog.New),
		define(Program{
			Name: identity.Orders, Port: 3, Database: "orders", Outbox: true,
			Periodic: []string{"idempotency", "reservation outcomes", "reservations", "retention", "retention clock", "seal keys"},
		}, orders.Migrate, orders.Compare, orders.New),
		define(Program{
			Name: identity.PersonalLinks, Port: 4, Database: "links", Outbox: true, Periodic: []string{"claims", "idempotency", "retention", "retention clock", "seal keys"},
		}, personallinks.Migrate, personallinks.Compare, personallinks.New),
		define(Program{
			Name: identity.Events, Port: 5, Database: "events", Periodic: []string{"feed maintenance", "retention clock", "seal keys"},
		}, events.Migrate, events.Compare, events.New),
		define(Program{
			Name: identity.Webhook, Port: 6, Database: "webhook", Periodic: []string{"idempotency", "retention", "retention clock", "seal keys"},
		}, webhook.Migrate, webhook.Compare, webhook.New),
		define(Program{Name: identity.Gateway, GRPCPort: 7}, nil, nil, gateway.New),
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
	// Port is the offset from the first port of a stack on one machine, GRPCPort that of its gRPC server. A service has no other port.
	Port, GRPCPort int
	// Database is empty for a program without one.
	Database string
	// Outbox means that the database has an outbox, which the relay publishes.
	Outbox bool
	// Periodic names the periodic work of the program.
	Periodic []string

	// Fields are its settings in the order of the code, Settings the same by variable.
	Fields   []settings.Field
	Settings map[string]settings.Field

	// Load reads the settings from env and returns all their errors.
	Load func(env map[string]string) error
	// Migrate brings the database up to date; without a database it does nothing.
	Migrate func(ctx context.Context, env map[string]string) error
	// Open builds the program with the settings in env, and reports as its command does whether the database is ahead.
	Open func(ctx context.Context, env map[string]string, tel *telemetry.Telemetry) (Runner, error)
}

// Runner is an opened program.
type Runner interface {
	Run(ctx context.Context) error
}

// Peer is the name of the setting by which other programs find this one, without prefix.
func (p Program) Peer() string {
	return strings.ToUpper(strings.ReplaceAll(string(p.Name), "-", "_")) + "_ADDR"
}

// Calls reports whether the program calls the other one.
func (p Program) Calls(other Program) bool {
	_, calls := p.Settings[settings.Prefix+other.Peer()]
	return calls
}

// Main is the folder of its main package in the repository.
func (p Program) Main() string {
	if p.Name == identity.Gateway {
		return "gateway/cmd/gateway"
	}
	return "services/" + string(p.Name) + "/cmd/" + string(p.Name)
}

// define completes a program whose configuration has the type C.
func define[C any, R Runner](
	p Program,
	migrate func(context.Context, C, io.Writer) error,
	compare func(context.Context, C) (postgres.Difference, error),
	open func(context.Context, C, *telemetry.Telemetry) (R, error),
) Program {
	fields, err := settings.Fields(new(C))
	if err != nil {
		panic(err) // The tags of the struct are malformed.
	}
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
		if err != nil || migrate == nil {
			return err
		}
		return migrate(ctx, cfg, io.Discard)
	}
	p.Open = func(ctx context.Context, env map[string]string, tel *telemetry.Telemetry) (Runner, error) {
		cfg, err := load(env)
		if err != nil {
			return nil, err
		}
		if compare != nil {
			difference, err := compare(ctx, cfg)
			if err != nil {
				return nil, err
			}
			if err := daemon.ReportAhead(ctx, tel, difference.Ahead); err != nil {
				return nil, err
			}
		}
		return open(ctx, cfg, tel)
	}
	return p
}
