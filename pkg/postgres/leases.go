package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// balanceInterval is how often a process looks for tasks that are free, and for processes that have joined. It is most of the time
	// for which a task waits when its process crashes; that of one that ends in order is taken at once.
	balanceInterval = 500 * time.Millisecond
	// aloneInterval is the same while no other process takes part. One that joins waits at most this long for its share to be freed.
	aloneInterval = 1500 * time.Millisecond
	// leaseTimeout is when the server releases the leases of a process that no longer uses its session, such as one on a host that
	// vanished. The process itself gives up its session earlier: after aloneInterval and CheckTimeout.
	leaseTimeout = 4 * time.Second
	// remindInterval is how often a process that cannot take part says so.
	remindInterval = time.Minute
)

// Leases divide numbered tasks, such as the partitions of a topic, evenly among the processes that share a database.
//
// A lease is an advisory lock in a session that a process has for its leases alone. So nothing is written, no clock counts, and the
// leases of a process that ends or crashes are free at once. When a process joins or leaves, only tasks that move stop.
//
// A process whose session broke may run its tasks for a moment while others have begun to run them, so tasks must allow that.
type Leases struct {
	// URL is the database's. It must lead to the server without a transaction pooler.
	URL string
	// Class distinguishes these advisory locks from others in the database, which are numbered by two integers too.
	Class int32
	Log   *slog.Logger
}

// Run runs each of the tasks 0…count-1 while this process has its lease, until ctx ends. It ends the context of a task that is to
// move to another process, or whose lease is lost, and releases the lease when the task has returned.
func (l Leases) Run(ctx context.Context, count int, task func(ctx context.Context, number int)) {
	var logged time.Time
	for ctx.Err() == nil {
		if err := l.runSession(ctx, count, task); err != nil && ctx.Err() == nil && time.Since(logged) >= remindInterval {
			l.Log.WarnContext(ctx, "cannot take part in dividing the work, trying again", "error", err)
			logged = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(balanceInterval):
		}
	}
}

// runSession takes part with one session, until it breaks or ctx ends.
func (l Leases) runSession(ctx context.Context, count int, task func(ctx context.Context, number int)) error {
	conn, err := ConnectToLock(ctx, l.URL, leaseTimeout)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s := &leaseSession{
		Leases: l, conn: conn, count: count, task: task,
		running: map[int]context.CancelFunc{}, stopping: map[int]bool{}, ended: make(chan int, count),
	}
	defer s.stopAll(context.WithoutCancel(ctx)) // Before the connection is closed and releases the leases.
	if err := s.join(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := s.balance(ctx); err != nil {
			return err
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// leaseSession is a session that holds leases, and the tasks that run meanwhile.
type leaseSession struct {
	Leases

	conn  *pgx.Conn
	count int
	task  func(ctx context.Context, number int)
	// running are the tasks whose leases are held. They include the stopping ones, which have been told to return.
	running  map[int]context.CancelFunc
	stopping map[int]bool
	// ended has the tasks that have returned.
	ended chan int
	// members is how many processes there were when the tasks were last divided.
	members int
}

// memberLock is the number of a lock that all processes share, by which they know of each other. It is never that of a task.
const memberLock = -1

// releasesChannel is the notification channel on which processes learn that one has released a lease.
const releasesChannel = "gifting_leases"

// join makes the process a member, to which tasks are given.
func (s *leaseSession) join(ctx context.Context) error {
	within, cancel := withinSession(ctx)
	defer cancel()
	if _, err := s.conn.Exec(within, "LISTEN "+releasesChannel); err != nil {
		return fmt.Errorf("listen for leases: %w", err)
	}
	return s.exec(ctx, "SELECT pg_advisory_lock_shared($1, $2)", memberLock)
}

// wait returns when the tasks may have to be divided again: one of them has returned, a process has released a lease, or nothing
// happened for the interval. It fails if the session breaks.
func (s *leaseSession) wait(ctx context.Context) error {
	interval := balanceInterval
	if s.members == 1 {
		interval = aloneInterval
	}
	waiting, stop := context.WithTimeout(ctx, interval)
	defer stop()
	var broken error
	released := make(chan struct{})
	go func() {
		defer close(released)
		_, broken = s.conn.WaitForNotification(waiting)
	}()
	select {
	case number := <-s.ended:
		stop()
		<-released // The connection is used by one goroutine at a time.
		return s.release(ctx, number)
	case <-released:
		if broken != nil && waiting.Err() == nil {
			return fmt.Errorf("wait for leases: %w", broken)
		}
		return nil
	}
}

func (s *leaseSession) exec(ctx context.Context, statement string, number int) error {
	ctx, cancel := withinSession(ctx)
	defer cancel()
	if _, err := s.conn.Exec(ctx, statement, s.Class, number); err != nil {
		return fmt.Errorf("change leases: %w", err)
	}
	return nil
}

// balance begins free tasks or stops some, until this process runs its share.
func (s *leaseSession) balance(ctx context.Context) error {
	members, err := s.membersNow(ctx)
	if err != nil {
		return err
	}
	before := s.working()
	wanted := shareOf(members, s.count) - before
	if wanted > 0 {
		err = s.begin(ctx, wanted, freeTasks(members, s.count))
	}
	s.stop(-wanted)
	if s.working() != before || len(members) != s.members {
		s.members = len(members)
		s.Log.InfoContext(ctx, "work divided", "tasks", s.working(), "of", s.count, "processes", len(members))
	}
	return err
}

// working returns how many tasks run and were not asked to return.
func (s *leaseSession) working() int { return len(s.running) - len(s.stopping) }

// member is a process that takes part, and the tasks of which it has the leases.
type member struct {
	pid  int32
	self bool
	// leaving means that it takes no more tasks, and ends as soon as those that it has return.
	leaving bool
	tasks   []int
}

const selectMembers = `SELECT pid, pid = pg_backend_pid(), bool_and(mode <> 'ShareLock'),
       coalesce(array_agg(objid::bigint::int) FILTER (WHERE mode = 'ExclusiveLock'), '{}')
  FROM pg_locks
 WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1::int::oid
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
 GROUP BY pid`

func (s *leaseSession) membersNow(ctx context.Context) ([]member, error) {
	ctx, cancel := withinSession(ctx)
	defer cancel()
	rows, err := s.conn.Query(ctx, selectMembers, s.Class)
	if err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	members, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m member, err error) {
		err = row.Scan(&m.pid, &m.self, &m.leaving, &m.tasks)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	if !slices.ContainsFunc(members, func(m member) bool { return m.self && !m.leaving }) {
		return nil, errNotMember
	}
	return members, nil
}

var errNotMember = errors.New("the session has lost its locks: is there a transaction pooler before the server?")

// withinSession returns a context for a statement of the session. It outlives ctx, because a statement that is given up closes the
// session and so releases the leases of tasks that still run.
func withinSession(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), CheckTimeout)
}

// shareOf returns how many of the tasks this process should run. If they cannot be divided evenly, those that have more leases now
// have one more, so that as few as possible move.
func shareOf(members []member, count int) int {
	members = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.leaving })
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(len(b.tasks), len(a.tasks)), cmp.Compare(a.pid, b.pid))
	})
	rank := slices.IndexFunc(members, func(m member) bool { return m.self })
	share := count / len(members)
	if rank < count%len(members) {
		share++
	}
	return share
}

// freeTasks returns the tasks of which nobody has the lease.
func freeTasks(members []member, count int) (free []int) {
	held := map[int]bool{}
	for _, m := range members {
		for _, number := range m.tasks {
			held[number] = true
		}
	}
	for number := range count {
		if !held[number] {
			free = append(free, number)
		}
	}
	return free
}

// begin takes the leases of up to most of the free tasks and runs them. Another process may take some of them first.
func (s *leaseSession) begin(ctx context.Context, most int, free []int) error {
	if len(free) == 0 {
		return nil
	}
	within, cancel := withinSession(ctx)
	defer cancel()
	rows, err := s.conn.Query(within, "SELECT number FROM unnest($2::int[]) AS number WHERE pg_try_advisory_lock($1, number)",
		s.Class, free[:min(most, len(free))])
	if err != nil {
		return fmt.Errorf("take leases: %w", err)
	}
	taken, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return fmt.Errorf("take leases: %w", err)
	}
	for _, number := range taken {
		ctx, cancel := context.WithCancel(ctx)
		s.running[number] = cancel
		go func() {
			s.task(ctx, number)
			s.ended <- number
		}()
	}
	return nil
}

// stop tells so many of the tasks to return, none if the number is negative.
func (s *leaseSession) stop(count int) {
	for number, cancel := range s.running {
		if count <= 0 {
			return
		}
		if !s.stopping[number] {
			s.stopping[number] = true
			cancel()
			count--
		}
	}
}

// release releases the lease of a task that has returned.
func (s *leaseSession) release(ctx context.Context, number int) error {
	s.running[number]()
	delete(s.running, number)
	delete(s.stopping, number)
	return s.exec(ctx, "SELECT pg_advisory_unlock($1, $2), pg_notify('"+releasesChannel+"', '')", number)
}

// stopAll ends all tasks, and returns when they have returned. A task that takes long does not delay the release of others.
func (s *leaseSession) stopAll(ctx context.Context) {
	s.stop(s.working())
	// What fails here is done by the end of the session.
	_ = s.exec(ctx, "SELECT pg_advisory_unlock_shared($1, $2)", memberLock)
	ticker := time.NewTicker(balanceInterval)
	defer ticker.Stop()
	for len(s.running) > 0 {
		select {
		case number := <-s.ended:
			_ = s.release(ctx, number)
		case <-ticker.C:
			_, _ = s.membersNow(ctx) // An idle session would lose the leases of tasks that still run.
		}
	}
}
