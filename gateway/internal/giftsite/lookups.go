package giftsite

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// maxFound and maxSpares bound the memory of lookups: beyond them, what was used longest ago is dropped.
	maxFound  = 20_000
	maxSpares = 20_000
	// spareEvery is how often a limited address may look up one more unknown token, spareBurst how many at once. An address
	// whose abuser goes on costs at most two calls a second.
	spareEvery = 500 * time.Millisecond
	spareBurst = 8
)

// lookups let valid links work behind an address that has tried too many unknown tokens, which many players may share. A token
// that this process has found before needs no look-up. Another one is looked up as long as the address has spare look-ups; only
// those that find nothing use them up. So the responses of a limited address differ only by whether the token is valid, which
// its page shows anyway.
type lookups struct {
	links linksv1.GiftSiteServiceClient
	clock func() time.Time

	mu sync.Mutex
	// found are the hashes of tokens: comparing them takes a time that says nothing about the tokens.
	found *simplelru.LRU[[sha256.Size]byte, struct{}]
	// spares is when all spare look-ups of an address will be available again.
	spares *simplelru.LRU[string, time.Time]
}

func newLookups(links linksv1.GiftSiteServiceClient, clock func() time.Time) *lookups {
	return &lookups{
		links: links, clock: clock,
		found: newLRU[[sha256.Size]byte, struct{}](maxFound), spares: newLRU[string, time.Time](maxSpares),
	}
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return lru
}

// remember records that the token has a link.
func (l *lookups) remember(token string) {
	hash := sha256.Sum256([]byte(token))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Add(hash, struct{}{})
}

// forget records that the token has no link, or none any more.
func (l *lookups) forget(token string) {
	hash := sha256.Sum256([]byte(token))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Remove(hash)
}

// valid reports whether the token of a limited address may be used: it has a link, or it is not known because the look-up
// failed, so that the request gets the response of that failure.
func (l *lookups) valid(ctx context.Context, address, token string) bool {
	hash := sha256.Sum256([]byte(token))
	l.mu.Lock()
	_, known := l.found.Get(hash)
	allowed := known || l.take(address)
	l.mu.Unlock()
	if known || !allowed {
		return known
	}
	_, err := l.links.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: token})
	if problem.Is(err, problem.NotFound) {
		return false
	}
	if err == nil {
		l.remember(token)
		l.refund(address)
	}
	return true
}

// take uses a spare look-up of the address. The caller holds the lock.
func (l *lookups) take(address string) bool {
	now := l.clock()
	full, _ := l.spares.Get(address)
	if full.Before(now) {
		full = now
	}
	full = full.Add(spareEvery)
	if full.Sub(now) > spareBurst*spareEvery {
		return false
	}
	l.spares.Add(address, full)
	return true
}

func (l *lookups) refund(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if full, ok := l.spares.Get(address); ok {
		l.spares.Add(address, full.Add(-spareEvery))
	}
}
