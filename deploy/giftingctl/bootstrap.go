package giftingctl

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
)

// bootstrapCommand makes what an installation needs before its first start. It calls no service.
func (a *app) bootstrapCommand() *cobra.Command {
	group := &cobra.Command{
		Use: "bootstrap", Short: "Make what an installation needs before its first start",
		Long: `bootstrap makes secrets, databases, certificates and the files of machines. It calls no service and needs no context.

Every command can be repeated: what exists is kept, what is missing is made. deploy/production/README.md has all steps.`,
	}
	group.AddCommand(a.bootstrapKeys(), a.bootstrapDatabases(), a.bootstrapCertificates(), a.bootstrapMachines())
	return group
}

func (a *app) bootstrapKeys() *cobra.Command {
	var dir, redis string
	var stores bootstrap.Stores
	c := &cobra.Command{
		Use: "keys", Short: "Make the secrets of all programs: keys, and URLs with passwords", Args: arguments(0),
		Long: `keys makes a folder for each Secret of the chart, with a file for each of its keys that only you may read. A file
that exists is never changed: data that was sealed with a lost key can never be read again. Store a copy apart from the databases.`,
		RunE: func(*cobra.Command, []string) error {
			if redis != "" {
				text, err := parser{a.In}.text(redis)
				if err != nil {
					return terminal.AsUsageError(err)
				}
				stores.Redis = strings.TrimSpace(string(text))
			}
			made, err := bootstrap.WriteSecrets(dir, stores)
			return errors.Join(a.reportMade(made), err)
		},
	}
	flags := c.Flags()
	flags.StringVar(&redis, "redis-file", "",
		"a file with the value of --redis, so that no password is on the command line; - is the standard input")
	flags.StringVar(&dir, "dir", "secrets", "the folder")
	flags.StringVar(&stores.Postgres, "postgres", "", "host:port of PostgreSQL, several separated by commas")
	flags.StringVar(&stores.Options, "postgres-options", "sslmode=verify-full", "parameters of the connections to PostgreSQL")
	flags.StringVar(&stores.Redis, "redis", "", "URL of Redis; empty: each gateway counts requests on its own")
	flags.StringVar(&stores.Prefix, "prefix", "", "what the names of databases and roles begin with, such as sandbox_; may be empty")
	terminal.Must(c.MarkFlagRequired("postgres"))
	c.MarkFlagsMutuallyExclusive("redis", "redis-file")
	terminal.MayBeEmpty(c, "redis")
	terminal.MayBeEmpty(c, "prefix")
	return c
}

// reportMade reports the files that were made, also before an error.
func (a *app) reportMade(paths []string) error {
	var lines []string
	for _, path := range paths {
		lines = append(lines, "Made "+path)
	}
	return a.reportDone(map[string][]string{"made": append([]string{}, paths...)}, lines...)
}

var errRun = errors.New("--url and --url-file need --run")

func (a *app) bootstrapDatabases() *cobra.Command {
	var dir, address, file string
	var only []string
	var run bool
	c := &cobra.Command{
		Use: "databases", Short: "Print or run the SQL that makes databases and roles", Args: arguments(0),
		Long: `databases prints the SQL for psql that makes the databases and roles which the secrets name. It has verifiers of the
passwords, not the passwords. With --run it executes the SQL, with the login of --url or of the variables PGHOST, PGUSER,
PGPASSFILE, which needs CREATEDB and CREATEROLE.

<database>_migrate owns the database and migrates it, <database> serves, relay_login reads the outboxes as a member of
gifting_relay.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if address+file != "" && !run {
				return terminal.AsUsageError(errRun)
			}
			statements, err := bootstrap.Databases(bootstrap.OpenSecrets(dir), only...)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			if !run {
				return a.printDatabases(statements)
			}
			if file != "" {
				text, err := parser{a.In}.text(file)
				if err != nil {
					return terminal.AsUsageError(err)
				}
				address = strings.TrimSpace(string(text))
			}
			switch err := bootstrap.RunDatabases(c.Context(), address, statements); {
			case errors.Is(err, bootstrap.ErrURL):
				return terminal.AsUsageError(err)
			case errors.Is(err, bootstrap.ErrUnreachable):
				return retryableError{err}
			case err != nil:
				return err
			}
			return a.reportDone(map[string]int{"statements": len(statements)}, "The databases and roles exist.")
		},
	}
	flags := c.Flags()
	flags.StringVar(&dir, "secrets", "secrets", "the folder that bootstrap keys made")
	flags.StringSliceVar(&only, "only", nil,
		"only these databases, if they have a server of their own: tenants, catalog, orders, links, events, webhook")
	flags.BoolVar(&run, "run", false, "execute the SQL instead of printing it")
	flags.StringVar(&address, "url", "", "URL of the administrator")
	flags.StringVar(&file, "url-file", "",
		"a file with the value of --url, so that no password is on the command line; - is the standard input")
	c.MarkFlagsMutuallyExclusive("url", "url-file")
	return c
}

// printDatabases prints the SQL, as JSON in one text.
func (a *app) printDatabases(statements []bootstrap.Statement) error {
	var sql strings.Builder
	if err := bootstrap.PrintDatabases(&sql, statements); err != nil {
		return err
	}
	if a.output == terminal.AsJSON {
		return terminal.JSON(a.Out, map[string]string{"sql": sql.String()})
	}
	_, err := io.WriteString(a.Out, sql.String())
	return err
}

func (a *app) bootstrapCertificates() *cobra.Command {
	certificates, days := bootstrap.Certificates{}, 0
	c := &cobra.Command{
		Use: "certificates", Short: "Make and renew an authority, and a certificate for every program and caller", Args: arguments(0),
		Long: `certificates makes a private authority, and certificates of all programs and of workspace, backoffice and operator. Run it
again each month: it renews those in the second half of their life. Running programs notice changed files; units of systemd must
be restarted, because they have copies. Keep ca.key apart: it can make any caller. In the last year of the authority, ca.crt and
ca.key also get its successor, which signs 30 days later.`,
		RunE: func(*cobra.Command, []string) error {
			if days < 1 || days > int(bootstrap.AuthorityLife/day) {
				return terminal.AsUsageError(errDays)
			}
			certificates.Life = time.Duration(days) * day
			made, err := certificates.Make(time.Now())
			var paths []string
			for _, name := range made {
				paths = append(paths, certificates.Cert(name))
			}
			return errors.Join(a.reportMade(paths), err)
		},
	}
	flags := c.Flags()
	flags.StringVar(&certificates.Dir, "dir", "certificates", "the folder")
	flags.IntVar(&days, "days", int(bootstrap.DefaultLife.Hours()/24),
		"how many days a new certificate is valid; with fewer than 80, a run each month is not enough")
	flags.StringVar(&certificates.TrustDomain, "trust-domain", bootstrap.DefaultTrustDomain,
		"trust domain of the identities, GIFTING_TLS_TRUST_DOMAIN of all programs")
	flags.BoolVar(&certificates.RenewAll, "renew", false, "renew all certificates now, by the same authority")
	return c
}

var errDays = errors.New("--days must be from 1 to 3650")

func (a *app) bootstrapMachines() *cobra.Command {
	var file, out string
	var from bootstrap.Sources
	c := &cobra.Command{
		Use: "machines", Short: "Make the files of machines that run the programs with systemd", Args: arguments(0),
		Long: `machines reads a YAML file of machines and their programs. It writes a folder for each machine, to be copied to its root:
settings and secrets in /etc/gifting, certificates in /etc/gifting/tls, units in /etc/systemd/system.`,
		RunE: func(*cobra.Command, []string) error {
			plan, err := bootstrap.ReadPlan(file)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			written, err := plan.Write(out, from)
			var lines []string
			for _, name := range slices.Sorted(maps.Keys(written)) {
				lines = append(lines, "Made "+strconv.Itoa(written[name])+" files for "+strings.Join([]string{out, name}, "/"))
			}
			return errors.Join(a.reportDone(written, lines...), err)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&file, "file", "f", "machines.yaml", "the file of machines")
	flags.StringVar(&out, "out", "machines", "the folder to write to")
	flags.StringVar(&from.Secrets, "secrets", "secrets", "the folder that bootstrap keys made")
	flags.StringVar(&from.Certificates, "certificates", "certificates", "the folder that bootstrap certificates made")
	return c
}
