package giftsite

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// maxFound and maxSpent bound the memory of lookups: beyond them, what was used longest ago is dropped.
	maxFound = 20_000
	maxSpent = 20_000
	// lookupBurst is how many unknown tokens an address may try at once, and lookupEvery how long it waits for each further one.
	lookupBurst = 60
	lookupEvery = 100 * time.Millisecond
)

// tokenHash identifies a token in memory. Comparing hashes takes a time that says nothing about the tokens.
type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// lookups find the links of tokens that this process has not seen yet. Players may share an address with somebody who tries
// tokens, so only look-ups that find nothing are limited, and a token that was found needs no further one. Tokens cannot be
// guessed: the limit saves the services work.
type lookups struct {
	links linksv1.GiftSiteServiceClient
	clock func() time.Time

	mu    sync.Mutex
	found *simplelru.LRU[tokenHash, struct{}]
	// spent is when all look-ups of an address will be available again.
	spent *simplelru.LRU[string, time.Time]
}

func newLookups(links linksv1.GiftSiteServiceClient, clock func() time.Time) *lookups {
	return &lookups{
		links: links, clock: clock,
		found: newLRU[tokenHash, struct{}](maxFound), spent: newLRU[string, time.Time](maxSpent),
	}
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return lru
}

// forget records that the token has no link any more.
func (l *lookups) forget(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Remove(hashToken(token))
}

// find returns an error if the token has no link. The page is nil if the link was found earlier. A positive wait means that the
// address has no look-up left for so long.
func (l *lookups) find(ctx context.Context, address, token string) (
	page *linksv1.GetClaimPageResponse, wait time.Duration, err error,
) {
	hash := hashToken(token)
	known, wait := l.begin(hash, address)
	if known || wait > 0 {
		return nil, wait, nil
	}
	page, err = l.links.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: token})
	if err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Add(hash, struct{}{})
	if full, ok := l.spent.Get(address); ok {
		l.spent.Add(address, full.Add(-lookupEvery))
	}
	return page, 0, nil
}

// begin spends a look-up of the address, unless the token is known.
func (l *lookups) begin(hash tokenHash, address string) (known bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.found.Get(hash); known {
		return true, 0
	}
	now := l.clock()
	full, _ := l.spent.Get(address)
	if full.Before(now) {
		full = now
	}
	full = full.Add(lookupEvery)
	if wait = full.Sub(now) - lookupBurst*lookupEvery; wait > 0 {
		return false, wait
	}
	l.spent.Add(address, full)
	return false, 0
}
