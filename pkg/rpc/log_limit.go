package rpc

import (
	"sync"
	"time"
)

// logLimit limits lines that others can cause to one per key and interval. There are few keys.
type logLimit struct {
	interval time.Duration
	clock    func() time.Time

	mu     sync.Mutex
	logged map[string]logged
}

// logged is when a key was logged last, and how often it was left out since.
type logged struct {
	at      time.Time
	skipped int
}

func newLogLimit(interval time.Duration, clock func() time.Time) *logLimit {
	return &logLimit{interval: interval, clock: clock, logged: map[string]logged{}}
}

// due reports whether the key is to be logged, and how often it was not since the last time.
func (l *logLimit) due(key string) (skipped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, now := l.logged[key], l.clock()
	if !last.at.IsZero() && now.Sub(last.at) < l.interval {
		last.skipped++
		l.logged[key] = last
		return 0, false
	}
	l.logged[key] = logged{at: now}
	return last.skipped, true
}
