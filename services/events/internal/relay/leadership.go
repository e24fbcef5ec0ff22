package relay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// memberLock is the advisory lock that every process that campaigns holds in shared mode: so they count each other.
	memberLock = 0x67696674_72656c79
	// The leader of a group holds the advisory lock with the group's number after this one.
	groupLocks = memberLock + 1
	// campaignInterval is how often processes look for groups without a leader. A lock is released immediately when its holder stops
	// or crashes. If its host vanishes, it is released when the server ends the session.
	campaignInterval = 500 * time.Millisecond
	// pingInterval is how often a process that is alone looks for others. With checkTimeout it bounds how long a dead connection goes
	// unnoticed.
	pingInterval = 2 * time.Second
	// idleSession is when the server ends an idle session and releases its locks. It is longer than pingInterval and checkTimeout
	// together, so that a disconnected leader stops before the next one begins.
	idleSession = 10 * time.Second
)

// sessionSettings let the server detect a vanished host. The keepalives, in seconds, are for a session that is not idle because
// a statement or its result is in flight.
var sessionSettings = map[string]string{
	"idle_session_timeout":    strconv.FormatInt(idleSession.Milliseconds(), 10),
	"tcp_keepalives_idle":     "5",
	"tcp_keepalives_interval": "2",
	"tcp_keepalives_count":    "3",
}

const (
	becomeMember = `SELECT pg_advisory_lock_shared($1)`

	// A key of 64 bits is in two columns.
	readLocks = `SELECT count(*) FILTER (WHERE key = $1),
  coalesce(array_agg((key - $2)::int) FILTER (WHERE key >= $2 AND key < $2 + $3), '{}')
FROM (SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) l`

	tryGroups     = `SELECT g FROM unnest($1::int[]) AS g WHERE pg_try_advisory_lock($2::bigint + g)`
	releaseGroups = `SELECT count(pg_advisory_unlock($2::bigint + g)) FROM unnest($1::int[]) AS g`
)

// campaign divides the groups among the processes that campaign, as evenly as possible: each leads those whose locks its session
// holds.
type campaign struct {
	url string
	log *slog.Logger
	// assign is called with the groups that this process leads, before it releases others.
	assign func(groups []int32)
}

// run calls lead each time this process becomes a leader. lead's context ends as soon as the connection with the locks is lost.
func (c campaign) run(ctx context.Context, lead func(ctx context.Context)) error {
	for ctx.Err() == nil {
		if err := c.leadOnce(ctx, lead); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "relay cannot lead, trying again", "error", err)
		}
		pause(ctx, campaignInterval, nil)
	}
	return nil
}

// leadOnce connects, and leads what it can get until the connection is lost.
func (c campaign) leadOnce(ctx context.Context, lead func(ctx context.Context)) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return fmt.Errorf("connect to campaign for leadership: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	m := &member{campaign: c, conn: conn}
	if err := m.register(ctx); err != nil {
		return err
	}
	for len(m.groups) == 0 {
		if err := m.tick(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if len(m.groups) == 0 {
			pause(ctx, campaignInterval, nil)
		}
	}
	leading, resign := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead(leading)
	}()
	err = m.watch(ctx)
	resign()
	<-done
	c.assign(nil)
	return err
}

func (c campaign) connect(ctx context.Context) (*pgx.Conn, error) {
	// The URL may have pool settings, which only the pool's parser knows.
	cfg, err := pgxpool.ParseConfig(c.url)
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	maps.Copy(cfg.ConnConfig.RuntimeParams, sessionSettings)
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

// member is a session that campaigns.
type member struct {
	campaign
	conn *pgx.Conn
	// members is how many sessions campaign.
	members int
	// groups are those whose locks the session holds.
	groups []int32
}

// register takes the lock by which the others count this session.
func (m *member) register(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := m.conn.Exec(ctx, becomeMember, int64(memberLock))
	return err
}

// watch campaigns until ctx ends or the connection is lost. Between two ticks it reads from the connection, so it notices
// immediately when the server closes it.
func (m *member) watch(ctx context.Context) error {
	for {
		interval := pingInterval
		if m.members > 1 {
			interval = campaignInterval
		}
		wait, cancel := context.WithTimeout(ctx, interval)
		_, err := m.conn.WaitForNotification(wait)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !pgconn.Timeout(err) {
			return fmt.Errorf("lost the leader's connection: %w", err)
		}
		if err := m.tick(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("lost the leader's connection: %w", err)
		}
	}
}

// tick claims groups without a leader, up to a fair share, and releases those beyond. It polls instead of waiting on the server,
// where a waiting statement would delay vacuum.
func (m *member) tick(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var leads []int32
	if err := m.conn.QueryRow(ctx, readLocks, int64(memberLock), int64(groupLocks), groupCount).Scan(&m.members, &leads); err != nil {
		return err
	}
	share := (groupCount + m.members - 1) / m.members
	if len(m.groups) > share {
		return m.release(ctx, share)
	}
	var free []int32
	for g := range int32(groupCount) {
		if !slices.Contains(leads, g) {
			free = append(free, g)
		}
	}
	return m.claim(ctx, free[:min(len(free), share-len(m.groups))])
}

func (m *member) claim(ctx context.Context, free []int32) error {
	if len(free) == 0 {
		return nil
	}
	rows, err := m.conn.Query(ctx, tryGroups, free, int64(groupLocks))
	if err != nil {
		return err
	}
	claimed, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil || len(claimed) == 0 {
		return err
	}
	m.setGroups(ctx, append(slices.Clone(m.groups), claimed...))
	return nil
}

// release releases all groups but the first ones. The process publishes no more of them from its next batch on. The batch in flight
// may overlap with the next leader's: it makes duplicates, as after a lost connection.
func (m *member) release(ctx context.Context, keep int) error {
	released := m.groups[keep:]
	m.setGroups(ctx, slices.Clone(m.groups[:keep]))
	_, err := m.conn.Exec(ctx, releaseGroups, released, int64(groupLocks))
	return err
}

func (m *member) setGroups(ctx context.Context, groups []int32) {
	slices.Sort(groups)
	m.groups = groups
	m.assign(groups)
	m.log.InfoContext(ctx, "relay leads", "groups", groups, "of", groupCount, "members", m.members)
}
