package kafka

import (
	"maps"
	"sync"
	"time"
)

// progress is how far a partition has been handled.
type progress struct {
	lock sync.Mutex
	// next is the offset to be handled next; negative before the first message.
	next int64
	// end is the partition's end offset as of the last fetch; negative before the partition was found.
	end int64
	// oldest is when the oldest message in handling was sent; zero: none is.
	oldest time.Time
	// blocked: messages are missing, so the partition is not read.
	blocked bool
}

// begin records the offset at which reading begins and the partition's end.
func (p *progress) begin(next, end int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.next, p.end, p.oldest = next, end, time.Time{}
}

// fetched records the partition's end.
func (p *progress) fetched(end int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.end = max(p.end, end)
}

// block records whether the partition is blocked, and reports whether that is new.
func (p *progress) block(blocked bool) (changed bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	changed = p.blocked != blocked
	p.blocked = blocked
	return changed
}

func (p *progress) handling(oldest time.Time) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.oldest = oldest
}

func (p *progress) handled(next int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.next, p.oldest = next, time.Time{}
}

// state returns how many messages wait, negative if that is not known, the age of the oldest one that is being handled, and whether
// the partition is blocked.
func (p *progress) state(now time.Time) (lag int64, age time.Duration, blocked bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if lag = -1; p.end >= 0 {
		lag = max(0, p.end-p.next)
	}
	if !p.oldest.IsZero() {
		age = max(0, now.Sub(p.oldest))
	}
	return lag, age, p.blocked
}

// members holds the partitions that this member of the group has now.
type members struct {
	lock sync.Mutex
	has  map[int]*progress
}

// set notes the partitions of a generation, none between two.
func (m *members) set(partitions map[int]*progress) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.has = partitions
}

func (m *members) all() map[int]*progress {
	m.lock.Lock()
	defer m.lock.Unlock()
	return maps.Clone(m.has)
}
