package relay

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	// leaderLock is the advisory lock that the leader's session holds.
	leaderLock = 0x67696674_72656c79
	// campaignInterval is how often a process that does not lead tries to. The lock is released immediately when its holder stops
	// or crashes. If its host vanishes, it is released when the server ends the session.
	campaignInterval = 500 * time.Millisecond
	// pingInterval is how often the leader checks its connection. With the time-out of the check it bounds how long a dead one goes
	// unnoticed.
	pingInterval = 2 * time.Second
	// idleSession is when the server ends an idle session and releases its lock. It is longer than these two together, so that a
	// disconnected leader stops before the next one begins.
	idleSession = 10 * time.Second
)

// campaign makes one of the processes that campaign the leader: the one whose session holds the lock.
type campaign struct {
	url string
	log *slog.Logger
}

// run calls lead each time this process becomes the leader. lead's context ends as soon as the connection with the lock is lost.
func (c campaign) run(ctx context.Context, lead func(ctx context.Context)) error {
	for ctx.Err() == nil {
		if err := c.leadOnce(ctx, lead); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "relay cannot lead, trying again", "error", err)
		}
		pause(ctx, campaignInterval, nil)
	}
	return nil
}

// leadOnce connects, waits for the lock, and leads until the connection is lost.
func (c campaign) leadOnce(ctx context.Context, lead func(ctx context.Context)) error {
	conn, err := postgres.ConnectToLock(ctx, c.url, idleSession)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := awaitLock(ctx, conn); err != nil || ctx.Err() != nil {
		return err
	}
	c.log.InfoContext(ctx, "relay leads")
	leading, resign := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead(leading)
	}()
	// The leader notices immediately when the server closes the connection.
	err = postgres.AwaitNotifications(ctx, conn, pingInterval, func(string) {})
	resign()
	<-done
	if err != nil {
		return fmt.Errorf("lost the leader's connection: %w", err)
	}
	return nil
}

// awaitLock returns when the session holds the lock, or ctx ends. It polls instead of waiting on the server, where a waiting
// statement would delay vacuum.
func awaitLock(ctx context.Context, conn *pgx.Conn) error {
	for ctx.Err() == nil {
		leads, err := tryLock(ctx, conn)
		if leads || err != nil {
			return err
		}
		pause(ctx, campaignInterval, nil)
	}
	return nil
}

func tryLock(ctx context.Context, conn *pgx.Conn) (leads bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, postgres.CheckTimeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(leaderLock)).Scan(&leads)
	return leads, err
}
