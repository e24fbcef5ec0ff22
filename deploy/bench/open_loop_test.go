package bench_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

const (
	// openWarmUp comes before what is measured, at the same rate: it makes the connections.
	openWarmUp = 2 * time.Second
	// mostWaiting requests may be under way at once. With more the platform does not keep up, and no latency is that of
	// the rate.
	mostWaiting = 2000
)

// openLoop sends requests when they are due by the clock, whatever has become of those before. A caller's request does
// not wait for another's answer: where the platform stands still for a while, all that were due meanwhile have waited,
// which clients that ask again after each answer would count once (coordinated omission).
type openLoop struct {
	base string
	keys *keyring
	// send sends one request and fails unless it is answered as it should be.
	send func(by *edgeClient) error

	// key is every client's until it has been used up: as many keys are needed as the requests have, not the connections.
	key  string
	used int

	lock sync.Mutex
	// free are the clients without a request, the last that had one at the end, so that no more connections are in use
	// than the rate needs.
	free []*edgeClient
	// late is the most that a measured request began after it was due.
	late time.Duration
}

// run sends requests at the rate for the warm-up and then for the given time. It gives how long each took that was
// measured, from when it was due.
func (l *openLoop) run(b *testing.B, perSecond int, measured time.Duration) stack.Latencies {
	b.Helper()
	every := time.Second / time.Duration(perSecond)
	skip := int(openWarmUp / every)
	took := make(stack.Latencies, skip+int(measured/every))
	waiting, ctx := errgroup.WithContext(b.Context())
	waiting.SetLimit(mostWaiting)
	began := time.Now()
	for i := range took {
		due := began.Add(time.Duration(i) * every)
		await(due)
		client := l.lend(b)
		begun := waiting.TryGo(func() error {
			late := time.Since(due)
			err := l.send(client)
			took[i] = time.Since(due)
			l.giveBack(client, late, i >= skip)
			return err
		})
		if !begun || ctx.Err() != nil {
			require.NoError(b, waiting.Wait())
			require.FailNow(b, "the platform does not keep up", "%d requests are under way", mostWaiting)
		}
	}
	require.NoError(b, waiting.Wait())
	counted := took[skip:]
	slices.Sort(counted)
	return counted
}

// lend gives a client that has no request, with a key for one.
func (l *openLoop) lend(b *testing.B) *edgeClient {
	b.Helper()
	if l.key == "" || l.used == usesOfKey {
		key, err := l.keys.take()
		require.NoError(b, err)
		l.key, l.used = key, 0
	}
	l.used++
	client := l.takeFree()
	if client == nil {
		client = newEdgeClient(b, l.base, l.keys)
	}
	client.key, client.used = l.key, 0
	return client
}

func (l *openLoop) takeFree() *edgeClient {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.free) == 0 {
		return nil
	}
	last := len(l.free) - 1
	client := l.free[last]
	l.free = l.free[:last]
	return client
}

func (l *openLoop) giveBack(client *edgeClient, late time.Duration, counts bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.free = append(l.free, client)
	if counts {
		l.late = max(l.late, late)
	}
}
