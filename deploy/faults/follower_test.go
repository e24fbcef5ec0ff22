//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// follower reads the feed while it grows, and holds what comes against what came.
type follower struct {
	reader
	client *client
	random *mathrand.Rand

	lock   sync.Mutex
	cursor string
	events []seen
	// at is when each event was seen first, step the last one of each record.
	at   map[string]time.Time
	step map[string]int64
}

func newFollower(r reader, c *client, random *mathrand.Rand) *follower {
	return &follower{reader: r, client: c.with(r.key), random: random, at: map[string]time.Time{}, step: map[string]int64{}}
}

const followEvery = 500 * time.Millisecond

func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		if more, err := f.page(ctx); err == nil && more {
			continue
		}
		pauseFor(ctx, followEvery)
	}
}

var errNoPage = errors.New("no page")

// page reads the next page, of a random size, and says whether it was full.
func (f *follower) page(ctx context.Context) (full bool, err error) {
	asked, limit := time.Now(), 1+f.random.IntN(100)
	path := fmt.Sprintf("/events?limit=%d", limit)
	if f.cursor != "" {
		path += "&after=" + f.cursor
	}
	a, err := f.client.attempt(ctx, call{method: http.MethodGet, path: path})
	if err != nil || !a.good() {
		return false, errors.Join(errNoPage, err)
	}
	events, next, err := readPage(a.body)
	if err != nil {
		f.client.verdict.broken(answers, asked, time.Now(), "%s: %v: %s", path, err, a.body)
		return false, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, e := range events {
		f.take(e, asked)
	}
	if next != "" {
		f.cursor = next
	}
	return len(events) == limit, nil
}

// take notices at once what comes again, and what comes behind a later change of its record.
func (f *follower) take(e seen, asked time.Time) {
	now := time.Now()
	if _, again := f.at[e.id]; again {
		f.client.verdict.broken(twice, asked, now, "follower %s: event %s comes again", f.name, e.id)
	}
	if last, known := f.step[e.subject]; known && e.kind != messagePosted && last >= e.step() {
		f.client.verdict.broken(order, asked, now, "follower %s: %s comes behind step %d", f.name, e.mark, last)
	}
	if e.kind != messagePosted {
		f.step[e.subject] = e.step()
	}
	f.at[e.id], f.events = now, append(f.events, e)
}

func (f *follower) length() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.events)
}

// times gives when each event was seen first.
func (f *follower) times() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.at)
}
