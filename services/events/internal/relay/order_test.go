package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// TestOrderUnderWriters runs many writers that write to two databases and pause before they commit. Each begins a change only
// after its last one is committed, in either database, and records what the others have committed by then.
func TestOrderUnderWriters(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{BatchSize: 20}, telemetry.Discard())
	// One source is read later than the other, which makes a wrong order likely.
	f.traceReads(t, 1, readTracer{before: func() { pause(t.Context(), 5*time.Millisecond, nil) }, after: func() {}})
	f.published.fail = func(n int) int {
		if rand.IntN(10) > 0 {
			return -1
		}
		return rand.IntN(n)
	}
	published, all := f.runWriters(t, 8*time.Second)
	t.Logf("%d changes, published %d times", len(all), len(published))
	require.Greater(t, len(all), 10*writers)
	require.Greater(t, len(published), len(all), "the failures made duplicates")
	require.Empty(t, violations(published, all))
}

// TestOrderUnderWritersWhileLeadersChange ends the sessions of leaders, and starts and stops relays.
func TestOrderUnderWritersWhileLeadersChange(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{BatchSize: 20}, telemetry.Discard())
	f.another(t).start(t)
	third := f.another(t)
	until, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		var errs []error
		for until.Err() == nil {
			pause(until, time.Duration(300+rand.IntN(900))*time.Millisecond, nil)
			errs = append(errs, endSession(t.Context(), f.owners[0], f.cfg.LeaderURL))
			running, stop := context.WithTimeout(t.Context(), time.Second)
			errs = append(errs, third.Run(running))
			stop()
		}
		ended <- errors.Join(errs...)
	}()
	published, all := f.runWriters(t, 8*time.Second)
	require.NoError(t, <-ended)
	t.Logf("%d changes, published %d times", len(all), len(published))
	require.Greater(t, len(all), 5*writers)
	require.Empty(t, violations(published, all))
}

// another makes a relay of the same outboxes and topic.
func (f *fixture) another(t *testing.T) *fixture {
	t.Helper()
	relay, err := New(t.Context(), Deps{Publisher: f.published, Readers: f.readers, Telemetry: telemetry.Discard()}, f.cfg)
	require.NoError(t, err)
	t.Cleanup(relay.Close)
	return &fixture{Relay: relay, published: f.published, owners: f.owners}
}

// TestCauseBeforeEffect commits a change right after its source was read, and its effect right before the other source is read.
// Only the watermark keeps the order right.
func TestCauseBeforeEffect(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	firstRead, committed := make(chan struct{}, 2), make(chan struct{})
	f.traceReads(t, 0, readTracer{before: func() {}, after: func() { firstRead <- struct{}{} }})
	f.traceReads(t, 1, readTracer{before: func() { <-committed }, after: func() {}})
	done := make(chan error, 1)
	go func() {
		_, err := f.publishBatch(t.Context())
		done <- err
	}()
	select {
	case <-firstRead:
	case err := <-done:
		require.NoError(t, err, "the batch ended before the read")
	}
	cause, effect := f.addEvent(t, 0), f.addEvent(t, 1)
	close(committed)
	require.NoError(t, <-done)

	f.publish(t)
	require.Equal(t, []string{cause, effect}, f.published.subjects(t))
}

const (
	writers  = 16
	subjects = 12
)

// write runs the writers and the relay for a time and returns when the outboxes are empty.
func (f *fixture) runWriters(t *testing.T, d time.Duration) (published []change, all []string) {
	t.Helper()
	for _, owner := range f.owners {
		_, err := owner.Exec(t.Context(), `CREATE TABLE subject (id int PRIMARY KEY, version int NOT NULL)`)
		require.NoError(t, err)
		pgtest.Exec(t, owner, `INSERT INTO subject SELECT n, 0 FROM generate_series(0, $1) n`, subjects)
	}
	f.start(t)
	until, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var (
		work sync.WaitGroup
		lock sync.Mutex
		errs []error
	)
	var seen lastCommitted
	for range writers {
		work.Go(func() {
			previous := ""
			for until.Err() == nil {
				id, err := f.commitChange(t.Context(), previous, &seen)
				lock.Lock()
				all, errs = append(all, id), append(errs, err)
				lock.Unlock()
				previous = id
			}
		})
	}
	work.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return f.rowsLeft(t) == 0 }, waitLimit, pollInterval)
	for _, c := range f.published.changes(t) {
		var parsed change
		require.NoError(t, json.Unmarshal(c.GetData(), &parsed))
		published = append(published, parsed)
	}
	return published, all
}

// lastCommitted holds a recently committed change of each source.
type lastCommitted [2]atomic.Pointer[string]

// commitChange makes one change of a random record and returns its id once it is committed.
func (f *fixture) commitChange(ctx context.Context, previous string, seen *lastCommitted) (string, error) {
	source, subject := rand.IntN(len(f.owners)), rand.IntN(subjects)
	c := change{ID: uuid.NewString(), Subject: fmt.Sprintf("%c%d", 'a'+source, subject)}
	if previous != "" {
		c.After = append(c.After, previous)
	}
	for i := range seen {
		if id := seen[i].Load(); id != nil {
			c.After = append(c.After, *id)
		}
	}
	err := pgx.BeginFunc(ctx, f.owners[source], func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "UPDATE subject SET version = version + 1 WHERE id = $1 RETURNING version", subject).Scan(&c.Version)
		if err != nil {
			return err
		}
		e := event(uuid.NewString())
		e.ID = c.ID
		if e.Data, err = json.Marshal(c); err != nil {
			return err
		}
		b := &pgx.Batch{}
		outbox.Append(ctx, b, e)
		b.Queue("SELECT pg_sleep($1)", rand.Float64()*0.01)
		return tx.SendBatch(ctx, b).Close()
	})
	seen[source].Store(&c.ID)
	return c.ID, err
}

// change is the data of an event for the checker.
type change struct {
	ID string `json:"id"`
	// The n-th change of a record has version n.
	Subject string `json:"subject"`
	Version int    `json:"version"`
	// After are changes that were committed before this one began.
	After []string `json:"after"`
}

// violations lists the errors in a published sequence. Only the first appearance of each event counts, as for a reader that
// drops duplicates. all are the committed ids.
func violations(published []change, all []string) []string {
	var wrong []string
	at := map[string]int{}
	versions := map[string]int{}
	for _, c := range published {
		if _, again := at[c.ID]; again {
			continue
		}
		at[c.ID] = len(at)
		versions[c.Subject]++
		if versions[c.Subject] != c.Version {
			wrong = append(wrong, fmt.Sprintf("version %d of %s is its change number %d", c.Version, c.Subject, versions[c.Subject]))
		}
		for _, before := range c.After {
			if _, seen := at[before]; !seen {
				wrong = append(wrong, fmt.Sprintf("%s was answered before %s was requested, but is published after it", before, c.ID))
			}
		}
	}
	for _, id := range all {
		if _, seen := at[id]; !seen {
			wrong = append(wrong, "lost "+id)
		}
	}
	return wrong
}

func TestTheCheckerFindsEachViolation(t *testing.T) {
	t.Parallel()
	a1 := change{ID: "a1", Subject: "a", Version: 1}
	a2 := change{ID: "a2", Subject: "a", Version: 2}
	b1 := change{ID: "b1", Subject: "b", Version: 1, After: []string{"a1"}}
	all := []string{"a1", "a2", "b1"}
	for name, test := range map[string]struct {
		published []change
		wrong     int
	}{
		"in order":                           {[]change{a1, b1, a2}, 0},
		"with duplicates":                    {[]change{a1, a1, b1, a1, a2, b1}, 0},
		"versions of a record inverted":      {[]change{a2, a1, b1}, 2},
		"cause after effect":                 {[]change{b1, a1, a2}, 1},
		"cause repeated before and too late": {[]change{b1, a1, b1, a2}, 1},
		"one lost":                           {[]change{a1, b1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, violations(test.published, all), test.wrong)
		})
	}
}
