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

// follower reads the feed while it grows, and checks at once that no event comes twice or before an older one.
type follower struct {
	reader
	client *client
	random *mathrand.Rand

	lock   sync.Mutex
	cursor string
	events []event
	// at is when each event was first seen, step the last one of each record.
	at   map[string]time.Time
	step map[string]int64
}

func newFollower(r reader, c *client, random *mathrand.Rand) *follower {
	return &follower{reader: r, client: c.with(r.key), random: random, at: map[string]time.Time{}, step: map[string]int64{}}
}

const pollInterval = 500 * time.Millisecond

func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		if more, err := f.readPage(ctx); err == nil && more {
			continue
		}
		sleep(ctx, pollInterval)
	}
}

var errNoPage = errors.New("no page")

// readPage reads the next page, of a random size, and reports whether it was full.
func (f *follower) readPage(ctx context.Context) (full bool, err error) {
	began, limit := time.Now(), 1+f.random.IntN(100)
	path := fmt.Sprintf("/events?limit=%d", limit)
	if f.cursor != "" {
		path += "&after=" + f.cursor
	}
	a, err := f.client.try(ctx, call{method: http.MethodGet, path: path})
	if err != nil || !a.success() {
		return false, errors.Join(errNoPage, err)
	}
	events, next, err := parsePage(a.body, parseEvent)
	if err != nil {
		f.client.results.failed(answers, began, time.Now(), "%s: %v: %s", path, err, a.body)
		return false, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, e := range events {
		f.add(e, began)
	}
	if next != "" {
		f.cursor = next
	}
	return len(events) == limit, nil
}

func (f *follower) add(e event, requested time.Time) {
	now := time.Now()
	if _, known := f.at[e.id]; known {
		f.client.results.failed(duplicate, requested, now, "follower %s: event %s comes again", f.name, e.id)
	}
	if last, known := f.step[e.subject]; known && e.kind != messagePosted && last >= e.step() {
		f.client.results.failed(order, requested, now, "follower %s: %s comes after step %d", f.name, e.name, last)
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

// times is when each event was first seen.
func (f *follower) times() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.at)
}
