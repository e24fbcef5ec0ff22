package server

import (
	"context"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// testsPerKey keeps one key from taking all places for tests.
	testsPerKey = 2
	// testsRetry is about how long a test of the key takes to end.
	testsRetry = 2 * time.Second
)

// places bounds the tests under way in this process, in all and of one key.
type places struct {
	all chan struct{}

	guard sync.Mutex
	// taken counts the places of each key, those it waits for included.
	taken map[int32]int
}

func newPlaces(n int) *places {
	return &places{all: make(chan struct{}, n), taken: map[int32]int{}}
}

// enter waits for a place, unless the key has its share: then it refuses at once.
func (p *places) enter(ctx context.Context, keyID int32) (leave func(), err error) {
	if !p.take(keyID) {
		e := problem.New(problem.RateLimited, "%d webhook tests of this key are still running; try again when one has ended.", testsPerKey)
		e.RetryAfter = testsRetry
		return nil, e
	}
	select {
	case p.all <- struct{}{}:
		return func() {
			<-p.all
			p.giveBack(keyID)
		}, nil
	case <-ctx.Done():
		p.giveBack(keyID)
		return nil, problem.Unavailable()
	}
}

func (p *places) take(keyID int32) bool {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.taken[keyID] >= testsPerKey {
		return false
	}
	p.taken[keyID]++
	return true
}

func (p *places) giveBack(keyID int32) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.taken[keyID]--; p.taken[keyID] == 0 {
		delete(p.taken, keyID)
	}
}
