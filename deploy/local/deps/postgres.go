package deps

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgreSQLConfig says which PostgreSQL to use.
type PostgreSQLConfig struct {
	URL  string // a superuser's URL; when set, nothing else counts
	Dir  string // keeps the data
	Port int
	// Ephemeral gives up what only a crash of the machine would need, and the password: for data that nobody keeps.
	Ephemeral bool
	Log       *slog.Logger
}

// superuser is the role of the address that StartPostgreSQL returns.
const superuser = "postgres"

// startTimeout bounds the start of one server, recovery after a crash included.
const startTimeout = 2 * time.Minute

// StartPostgreSQL starts a PostgreSQL that listens on loopback only, or uses the given one. Where no server program is
// found it installs the distribution's package, or fetches an embedded build when it may not install packages.
func StartPostgreSQL(ctx context.Context, cfg PostgreSQLConfig) (*Instance, error) {
	if cfg.URL != "" {
		return given(cfg.URL), nil
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
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	cluster := &cluster{PostgreSQLConfig: cfg, home: dir, user: user}
	server, err := cluster.start(ctx)
	if err != nil {
		lock.release()
		return nil, err
	}
	return serverInstance(cluster.url(), Server, server, lock), nil
}

// cluster is a PostgreSQL data directory and the programs that fit it.
type cluster struct {
	PostgreSQLConfig
	home     string
	user     *serverUser
	programs string // directory of initdb and postgres
	password string
}

func (c *cluster) data() string {
	return filepath.Join(c.home, "data")
}

func (c *cluster) start(ctx context.Context) (*process, error) {
	// Installing the programs takes as long as the network does; the rest is bounded.
	if err := c.choosePrograms(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.readPassword(); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	server := c.server()
	if err := server.endOrphans(ctx); err != nil {
		return nil, err
	}
	if err := c.user.own(c.data()); err != nil {
		return nil, err
	}
	if err := requireFree(ctx, "PostgreSQL", c.Port); err != nil {
		return nil, err
	}
	running, err := server.run(ctx)
	if err != nil {
		return nil, err
	}
	if err := running.untilReady(ctx, c.ping); err != nil {
		return nil, err
	}
	c.Log.Info("PostgreSQL is up", "port", c.Port, "programs", c.programs, "data", c.data())
	return running, nil
}

func (c *cluster) server() program {
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
	args := []string{"-D", c.data()}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return program{
		name:      "PostgreSQL",
		path:      filepath.Join(c.programs, "postgres"),
		args:      args,
		dir:       c.data(),
		user:      c.user,
		quit:      syscall.SIGINT, // "fast": ends sessions, writes a checkpoint
		log:       filepath.Join(c.home, "postgres.log"),
		pidFile:   filepath.Join(c.data(), "postmaster.pid"),
		writesPID: true,
	}
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

// dataVersion is the major version that wrote the data, empty when there is no data yet.
func (c *cluster) dataVersion() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if os.IsNotExist(err) {
		return "", nil
	}
	return trimmed(text), err
}
