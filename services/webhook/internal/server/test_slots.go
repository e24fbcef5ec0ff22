package server

import (
	"context"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// testsPerKey keeps one key from taking all slots.
	testsPerKey = 2
	// testRetryAfter is about how long a test takes.
	testRetryAfter = 2 * time.Second
)

// testSlots bounds the tests that run in this process, in total and per key.
type testSlots struct {
	all chan struct{}

	guard sync.Mutex
	// ofKey counts the slots of each key, including those that it waits for.
	ofKey map[int32]int
}

func newTestSlots(n int) *testSlots {
	return &testSlots{all: make(chan struct{}, n), ofKey: map[int32]int{}}
}

// acquire waits for a slot. It fails immediately if the key already has its share.
func (s *testSlots) acquire(ctx context.Context, keyID int32) (release func(), err error) {
	if !s.count(keyID) {
		e := problem.New(problem.RateLimited, "%d webhook tests of this key are still running; try again when one has ended.",
			testsPerKey)
		e.RetryAfter = testRetryAfter
		return nil, e
	}
	select {
	case s.all <- struct{}{}:
		return func() {
			<-s.all
			s.uncount(keyID)
		}, nil
	case <-ctx.Done():
		s.uncount(keyID)
		return nil, problem.Unavailable()
	}
}

func (s *testSlots) count(keyID int32) bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.ofKey[keyID] >= testsPerKey {
		return false
	}
	s.ofKey[keyID]++
	return true
}

func (s *testSlots) uncount(keyID int32) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.ofKey[keyID]--; s.ofKey[keyID] == 0 {
		delete(s.ofKey, keyID)
	}
}
