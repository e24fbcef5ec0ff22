// Package postgres opens the database of a service. It has the pool, transactions as closures, pipelined batches, migrations,
// and the translation of SQL errors.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Config of a service's database.
type Config struct {
	// URL such as postgres://user@host:5432/gifting_orders?sslmode=verify-full.
	URL              string        `env:"DATABASE_URL,required" check:"url=postgres|postgresql" secret:"true" doc:"The service's own PostgreSQL database."`
	MaxConns         int32         `env:"DATABASE_MAX_CONNS" envDefault:"16" check:"min=1" doc:"Maximum number of connections."`
	StatementTimeout time.Duration `env:"DATABASE_STATEMENT_TIMEOUT" envDefault:"10s" check:"min=100ms" doc:"How long a statement may run before it is cancelled."`
	LockTimeout      time.Duration `env:"DATABASE_LOCK_TIMEOUT" envDefault:"5s" check:"min=10ms,max=1m" doc:"How long a migration waits for a lock in each of ten attempts. Other statements wait behind it."`
}

const minIdleConns = 2

// Option changes how a service uses its database.
type Option func(pc *pgxpool.Config)

// ByIndex makes plans use an index whenever there is one. Otherwise a plan that was cached while a table was nearly empty reads
// the whole table until the next ANALYZE, however fast the table grows. It is for services whose statements all have an index,
// such as a queue's.
func ByIndex(pc *pgxpool.Config) {
	pc.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	// A bitmap is made of all entries, however few rows the statement wants.
	pc.ConnConfig.RuntimeParams["enable_bitmapscan"] = "off"
}

// NewestVersion selects the row whose key has the value, an expression, in a table whose rows are updated all the time. It needs
// ByIndex.
//
// While an old snapshot is open, as of a backup, every version of such a row stays, and a plain comparison reads them all:
// 50 ms after a million updates. Backwards, the index leads to the newest version first.
func NewestVersion(columns, table, key, value string) string {
	return "SELECT " + columns + " FROM " + table + " WHERE " + key + " >= " + value + " AND " + key + " <= " + value +
		" ORDER BY " + key + " DESC LIMIT 1"
}

// PlanOnce keeps one plan of each statement, whatever its values. It is for services where one plan is always the best and
// planning can take longer than running, as on a table with many partitions. Otherwise the server plans such a statement every
// time as soon as a plan for its values looks slightly cheaper.
func PlanOnce(pc *pgxpool.Config) {
	pc.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
}

// OpenObserved is Open for a service. Its telemetry measures the pool and traces the statements.
func OpenObserved(ctx context.Context, cfg Config, tel *telemetry.Telemetry, options ...Option) (*pgxpool.Pool, error) {
	return OpenNamed(ctx, tel.Service, cfg, tel, options...)
}

// OpenNamed is OpenObserved for a further pool of a service, which is measured under its own name.
func OpenNamed(
	ctx context.Context, name string, cfg Config, tel *telemetry.Telemetry, options ...Option,
) (*pgxpool.Pool, error) {
	pool, err := open(ctx, cfg, append(options, func(pc *pgxpool.Config) { Trace(pc.ConnConfig, tel) })...)
	if err != nil {
		return nil, err
	}
	if err := Measure(pool, name, tel); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// Open makes the pool and checks that the database answers.
func Open(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	return open(ctx, cfg)
}

func open(ctx context.Context, cfg Config, options ...Option) (*pgxpool.Pool, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("database url: %w", err)
	}
	pc.MaxConns = cfg.MaxConns
	pc.MinIdleConns = min(minIdleConns, pc.MaxConns)
	NoticeLostServers(pc)
	params, timeout := pc.ConnConfig.RuntimeParams, fmt.Sprint(cfg.StatementTimeout.Milliseconds())
	params["statement_timeout"], params["idle_in_transaction_session_timeout"] = timeout, timeout
	params["timezone"] = "UTC"
	// The statements of a service are short. Compiling one takes longer than running it, and the server would compile it as
	// soon as it expects many rows.
	params["jit"] = "off"
	pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	for _, option := range options {
		option(pc)
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reach database: %w", err)
	}
	return pool, nil
}

// Connect makes one connection without a pool.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := connConfig(url)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// connConfig reads the URL of a database. It may have pool settings, which only the pool's parser knows.
func connConfig(url string) (*pgx.ConnConfig, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	return cfg.ConnConfig, nil
}

// errURL does not wrap the cause, which quotes parts of the URL.
var errURL = errors.New("is not understood: it must look like postgres://user:password@host:5432/database?sslmode=verify-full")

// Validate implements the check of package settings.
func (c Config) Validate() error {
	if _, err := pgxpool.ParseConfig(c.URL); err != nil {
		return settings.Invalid("DATABASE_URL", errURL)
	}
	return nil
}

// Measure reports the connections of the pool under the name.
func Measure(pool *pgxpool.Pool, name string, tel *telemetry.Telemetry) error {
	err := telemetry.Pool(tel.Meters, "postgresql", name, func(context.Context) telemetry.PoolState {
		s := pool.Stat()
		return telemetry.PoolState{
			Used: int64(s.AcquiredConns()), Idle: int64(s.IdleConns()), Max: int64(s.MaxConns()),
			Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
		}
	})
	if err != nil {
		return fmt.Errorf("metrics of the pool %s: %w", name, err)
	}
	return nil
}

// ServerStart is an SQL expression for ServerIdentity with the start of the server. A server whose disk was set back was started
// since, so this differs after whatever can bring data back to an earlier state. It also differs after each restart.
const ServerStart = `concat_ws('/', ` + ServerIdentity + `, extract(epoch FROM pg_postmaster_start_time()))`

// ServerIdentity is an SQL expression for what a server says of itself. It differs after a restore and a fail-over: a restored or
// promoted server has another timeline, one that was initialized anew another identifier, and a database that was created anew
// another oid. It does not differ if the disk of a server was set back.
const ServerIdentity = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()))`
