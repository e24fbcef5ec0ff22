package relay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// leaderLock is the advisory lock whose holder leads.
	leaderLock = 0x67696674_72656c79
	// standEvery is how often a vacancy is looked for. A leader that ends, or whose process dies,
	// leaves one at once; one whose host vanishes, when the server ends its session.
	standEvery = 500 * time.Millisecond
	// pingEvery and pingTimeout bound how long a connection that died without a word goes unnoticed
	// by the leader.
	pingEvery   = 2 * time.Second
	pingTimeout = 2 * time.Second
	// idleSession is when the server ends a session from which nothing comes any more, and with it
	// frees the lock. It is longer than pingEvery and pingTimeout together: a leader that is cut
	// off stops leading before another is elected.
	idleSession = 10 * time.Second
)

// sessionSettings let the server notice a vanished host by itself. The keepalives, in seconds, are
// for a session that is not idle because a statement or its answer is still under way.
var sessionSettings = map[string]string{
	"idle_session_timeout":    strconv.FormatInt(idleSession.Milliseconds(), 10),
	"tcp_keepalives_idle":     "5",
	"tcp_keepalives_interval": "2",
	"tcp_keepalives_count":    "3",
}

// election lets one process lead: it holds a session's advisory lock, and so its connection must
// go straight to the server and not through a pooler of transactions.
type election struct {
	url string
	log *slog.Logger
}

// run calls lead each time this process is elected; lead's context ends as soon as the connection
// with the lock is lost.
func (e election) run(ctx context.Context, lead func(ctx context.Context)) error {
	for ctx.Err() == nil {
		if err := e.term(ctx, lead); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "relay is not leader, standing again", "error", err)
		}
		pause(ctx, standEvery, nil)
	}
	return nil
}

// term is one connection: waiting for the lock, then leading.
func (e election) term(ctx context.Context, lead func(ctx context.Context)) error {
	conn, err := e.connect(ctx)
	if err != nil {
		return fmt.Errorf("connect for election: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := elected(ctx, conn); err != nil {
		return fmt.Errorf("stand for election: %w", err)
	}
	e.log.InfoContext(ctx, "relay leads")
	ctx, resign := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead(ctx)
	}()
	err = hold(ctx, conn)
	resign()
	<-done
	return err
}

func (e election) connect(ctx context.Context) (*pgx.Conn, error) {
	// The URL may hold settings of a pool, which only the pool's parser knows.
	cfg, err := pgxpool.ParseConfig(e.url)
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	maps.Copy(cfg.ConnConfig.RuntimeParams, sessionSettings)
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

// elected returns when the lock is taken. It asks again and again instead of waiting on the
// server, where a waiting statement would hold back vacuum.
func elected(ctx context.Context, conn *pgx.Conn) error {
	for {
		var got bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(leaderLock)).Scan(&got); err != nil || got {
			return err
		}
		pause(ctx, standEvery, nil)
	}
}

// hold returns when ctx ends or the connection is lost. It reads from the connection all the time,
// so that a server that closes it is noticed at once.
func hold(ctx context.Context, conn *pgx.Conn) error {
	for {
		wait, cancel := context.WithTimeout(ctx, pingEvery)
		_, err := conn.WaitForNotification(wait)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !pgconn.Timeout(err) {
			return fmt.Errorf("lost the leader's connection: %w", err)
		}
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		err = conn.Ping(ping)
		cancel()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("lost the leader's connection: %w", err)
		}
	}
}
