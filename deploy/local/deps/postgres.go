package deps

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// PostgreSQLConfig configures the PostgreSQL to use.
type PostgreSQLConfig struct {
	URL  string // a superuser's URL; if set, all other fields are ignored
	Dir  string // holds the data
	Port int
	// Ephemeral switches off syncing to disk and the password, for temporary data.
	Ephemeral bool
	// CountsStatements loads pg_stat_statements where the server has it.
	CountsStatements bool
	// LogicalReplication lets databases of the server follow each other, as those of several cells do. Every change then writes more
	// log. Data that such replication has used keeps it: PostgreSQL does not start without it.
	LogicalReplication bool
	// Settings are further settings, as name=value, and Env further variables of the server's environment.
	Settings []string
	Env      []string
	Log      *slog.Logger
}

// superuser is the role in the address that StartPostgreSQL returns.
const superuser = "postgres"

// StartPostgreSQL starts a PostgreSQL that listens on loopback only, or uses the given one. Without an installed server
// program it installs the distribution's package, or downloads an embedded build when it may not install packages.
func StartPostgreSQL(ctx context.Context, cfg PostgreSQLConfig) (*Instance, error) {
	if cfg.URL != "" {
		return &Instance{Name: "PostgreSQL", Address: cfg.URL, Kind: Given}, nil
	}
	instance, err := startPostgreSQL(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return instance, nil
}

func startPostgreSQL(ctx context.Context, cfg PostgreSQLConfig) (*Instance, error) {
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := home(cfg.Log, cfg.Dir, user)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	c := &cluster{PostgreSQLConfig: cfg, home: dir, user: user}
	return locked(dir, func() (*Instance, error) {
		if err := c.prepare(ctx); err != nil {
			return nil, err
		}
		instance, err := c.server().start(ctx)
		if err == nil {
			c.Log.Info("PostgreSQL is up", "port", c.Port, "programs", c.programs, "data", c.data())
		}
		return instance, err
	})
}

// cluster is a PostgreSQL data directory and the programs that fit it.
type cluster struct {
	PostgreSQLConfig
	home     string
	user     *serverUser
	programs string // directory of initdb and postgres
	password string
}

func (c *cluster) data() string { return filepath.Join(c.home, "data") }

// prepare finds the programs and, on the first start, makes the password and the data directory.
func (c *cluster) prepare(ctx context.Context) error {
	if err := c.readPassword(); err != nil {
		return fmt.Errorf("password: %w", err)
	}
	// This has no time limit, because downloads may be slow.
	if err := c.choosePrograms(ctx); err != nil {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	return nil
}

func (c *cluster) server() server {
	settings := []string{
		"listen_addresses=127.0.0.1",
		fmt.Sprintf("port=%d", c.Port),
		"unix_socket_directories=",
		"max_connections=400",
		"shared_buffers=128MB",
		"logging_collector=off",
		"timezone=UTC",
		"log_timezone=UTC",
	}
	if c.Ephemeral {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	if c.CountsStatements && c.has("pg_stat_statements") {
		settings = append(settings, "shared_preload_libraries=pg_stat_statements")
	}
	if c.LogicalReplication || c.hasSlots() {
		settings = append(settings, "wal_level=logical")
		for _, name := range []string{
			"max_replication_slots", "max_wal_senders", "max_worker_processes", "max_logical_replication_workers",
		} {
			settings = append(settings, name+"=64")
		}
	}
	args := []string{"-D", c.data()}
	for _, setting := range slices.Concat(settings, c.Settings) {
		args = append(args, "-c", setting)
	}
	return server{
		name: "PostgreSQL", address: c.url(), kind: Server, port: c.Port, ready: c.ping,
		path: filepath.Join(c.programs, "postgres"), args: args, env: c.Env, dir: c.data(), user: c.user,
		quit: syscall.SIGINT, // Ends sessions and writes a checkpoint.
		log:  filepath.Join(c.home, "postgres.log"), pidFile: filepath.Join(c.data(), "postmaster.pid"), writesPID: true,
	}
}

// hasSlots reports whether the data has replication slots.
func (c *cluster) hasSlots() bool {
	slots, err := os.ReadDir(filepath.Join(c.data(), "pg_replslot"))
	return err == nil && len(slots) > 0
}

// has reports whether the server programs came with a library, in the folders of distributions or of the embedded build.
func (c *cluster) has(library string) bool {
	program, err := filepath.EvalSymlinks(filepath.Join(c.programs, "postgres"))
	if err != nil {
		return false
	}
	for _, folder := range []string{"lib", filepath.Join("lib", "postgresql")} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(program), "..", folder, library+".so")); err == nil {
			return true
		}
	}
	return false
}

func (c *cluster) url() string {
	user := url.User(superuser)
	if c.password != "" {
		user = url.UserPassword(superuser, c.password)
	}
	address := url.URL{Scheme: "postgres", User: user, Host: loopback(c.Port), Path: "/postgres", RawQuery: "sslmode=disable"}
	return address.String()
}

func (c *cluster) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.url())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// dataVersion is the major version that wrote the data, or empty when there is no data yet.
func (c *cluster) dataVersion() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if os.IsNotExist(err) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// readPassword reads the superuser's password, made on the first start: any local user can reach a loopback port, and a
// superuser can run programs. Ephemeral data needs no protection and connects faster without a password.
func (c *cluster) readPassword() error {
	if c.Ephemeral {
		return nil
	}
	text, err := os.ReadFile(c.passwordFile())
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(rand.Text())
		err = os.WriteFile(c.passwordFile(), text, 0o600)
	}
	if err != nil {
		return err
	}
	c.password = strings.TrimSpace(string(text))
	return c.user.own(c.passwordFile())
}

func (c *cluster) passwordFile() string { return filepath.Join(c.home, "password") }

// initialise creates the data directory on the first start. It gets its name only when it is complete, so that an interrupted
// start can be repeated.
func (c *cluster) initialise(ctx context.Context) error {
	version, err := c.dataVersion()
	if err != nil || version != "" {
		return err
	}
	fresh := c.data() + ".new"
	if err := c.initdb(ctx, c.programs, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, c.data())
}

// initdb creates a data directory with the server programs of a folder.
func (c *cluster) initdb(ctx context.Context, programs, fresh string) error {
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := c.user.own(fresh); err != nil {
		return err
	}
	args := []string{"--pgdata", fresh, "--username", superuser, "--encoding", "UTF8", "--no-locale"}
	if c.Ephemeral {
		args = append(args, "--no-sync", "--auth", "trust")
	} else {
		args = append(args, "--auth", "scram-sha-256", "--pwfile", c.passwordFile())
	}
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), args...) //nolint:gosec // Found or installed here.
	cmd.Dir, cmd.SysProcAttr = fresh, c.user.attributes()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return nil
}
