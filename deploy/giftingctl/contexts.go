package giftingctl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/identity"
)

func (a *app) contextCommand() *cobra.Command {
	group := &cobra.Command{
		Use: "context", Short: "Where the services are, and who calls them",
		Long: `A context says where the services are, and who calls them. Contexts are in one YAML file:

  current: production
  contexts:
    production:
      addresses: {tenants: "host:9000", catalog: "host:9000", orders: "host:9000", personal-links: "host:9000",
        events: "host:9000", webhook: "host:9000", gateway: "host:9000"}
      cells: {b: {catalog: "host:9000", orders: "host:9000", personal-links: "host:9000", events: "host:9000",
        webhook: "host:9000"}}           # optional: the programs of further cells
      metrics: {tenants: "host:9090"}   # optional: the metrics ports, of the same programs, for status
      ca: ca.crt                 # relative to this file
      certificate: ann.crt       # its URI SAN says what the caller may do: workspace, backoffice or operator
      key: ann.key
      actor: {kind: backoffice-account, id: ann}
      tenant: 5f0c3a2e-…         # optional: the tenant of commands without --tenant`,
	}
	command := func(use, short string, run func(name string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: arguments(strings.Count(use, " ")), ValidArgsFunction: a.completeContexts,
			RunE: func(_ *cobra.Command, args []string) error { return run(strings.Join(args, "")) },
		}
	}
	show := command("show", "Show the context in use, and until when its certificate is valid", a.showContext)
	list := command("list", "List the contexts", a.listContexts)
	use := command("use NAME", "Use a context from now on", a.useContext)
	group.AddCommand(list, use, show)
	return group
}

func (a *app) listContexts(string) error {
	cfg, err := readConfig(a.config)
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, name := range cfg.names() {
		found := cfg.Contexts[name]
		current := ""
		if name == cfg.Current {
			current = "*"
		}
		rows = append(rows, []string{current, name, found.Actor.Kind, found.Actor.ID, found.Tenant})
	}
	return a.printRows([]string{"current", "name", "actor kind", "actor id", "tenant"}, rows)
}

func (a *app) useContext(name string) error {
	cfg, err := readConfig(a.config)
	if err != nil {
		return err
	}
	if cfg.Current, _, err = cfg.named(name); err != nil {
		return err
	}
	if err := cfg.Write(cfg.path); err != nil {
		return err
	}
	return a.reportDone(map[string]string{"current": name}, "Commands use "+name+" from now on.")
}

func (a *app) showContext(string) error {
	c, err := a.chooseContext()
	if err != nil {
		return err
	}
	files, err := c.config.identity(c.name, c.Context)
	if err != nil {
		return err
	}
	certificate, err := identity.Certificate(files.CertFile, files.KeyFile, time.Now())
	if err = errors.Join(err, checkKey(files.KeyFile)); err != nil {
		return terminal.AsUsageError(err)
	}
	files.TrustDomain = cmp.Or(files.TrustDomain, bootstrap.DefaultTrustDomain)
	caller, err := identity.Of(certificate.Leaf, files.TrustDomain)
	if err != nil {
		return terminal.AsUsageError(fmt.Errorf("%s: %w", files.CertFile, err))
	}
	rows := [][]string{
		{"file", c.config.path},
		{"name", c.name},
		{"caller", caller.URI(files.TrustDomain)},
		{"valid until", certificate.Leaf.NotAfter.UTC().Format(time.RFC3339)},
		{"ca", files.CAFile},
		{"actor", strings.TrimSpace(c.Actor.Kind + " " + c.Actor.ID)},
		{"tenant", c.Tenant},
	}
	for _, service := range slices.Sorted(maps.Keys(c.Addresses)) {
		rows = append(rows, []string{string(service), c.Addresses[service]})
	}
	return a.printRows(nil, rows)
}

func (a *app) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := readConfig(a.config)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return cfg.names(), cobra.ShellCompDirectiveNoFileComp
}
