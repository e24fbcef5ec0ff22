package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxKeys = 50_000

	// unknownVersion is the version of a tenant's settings if Redis did not return one, or was not queried.
	unknownVersion = 0

	// lookUpTimeout is long, because without its principal a request cannot go on. It is not longer than the lease: a change whose
	// version Redis does not take is answered after the lease, and a request of then must not share a look-up from before the change.
	lookUpTimeout = tenants.VersionLease
	// shortTimeout is how long a request waits for a look-up if the cached principal may still be used. The look-up goes on, so
	// that a later request finds its result.
	shortTimeout = 300 * time.Millisecond
	// retryPause follows a failed look-up: meanwhile, cached principals that may still be used are not looked up again.
	retryPause = time.Second
)

// keys caches the principals of API keys.
type keys struct {
	directory   tenantsv1.DirectoryServiceClient
	environment apikey.Environment
	clock       func() time.Time
	// maxStale is how long a principal is used while look-ups fail and the version of its tenant is confirmed.
	maxStale time.Duration
	// lookUpTimeout is shorter only in tests.
	lookUpTimeout time.Duration

	lookUps singleflight.Group
	// unshared counts the look-ups that no other request shares. Its negative takes the place of the version in such a look-up.
	unshared atomic.Int64
	// confirmedAt is when Redis last took a write and returned a version. gapEnd is when it last did so after a gap of at least
	// tenants.VersionLease, in which a change may have been made whose version Redis lacks. Both are nanoseconds since began.
	began               time.Time
	confirmedAt, gapEnd atomic.Int64
	// newRedisAt is when Redis was last another one than before, in the same form. It may have been set back just before.
	newRedisAt atomic.Int64
	// failedAt is when the last look-up failed, in the same form; it is zero if the last one succeeded.
	failedAt atomic.Int64

	copies *tenants.Copies
	mu     sync.RWMutex
	byHash map[string]*entry
}

type entry struct {
	tenants.Copy

	principal caller.Principal
}

func newKeys(deps Deps, cfg Config) *keys {
	k := &keys{
		directory: deps.Directory, environment: cfg.Environment, clock: deps.Clock, maxStale: cfg.KeyStale, lookUpTimeout: lookUpTimeout,
		byHash: map[string]*entry{}, began: deps.Clock(),
	}
	k.copies = tenants.NewCopies(deps.Directory, deps.Clock, k.eachCopy)
	return k
}

// invalidKey is the same for every invalid key, so that it does not reveal the reason.
func invalidKey() *problem.Error {
	return problem.New(problem.InvalidAPIKey, "The API key is missing, unknown, revoked or not of this environment.")
}

// hash checks the form of the key and returns its hash. A key of the other environment, or with a wrong checksum, never
// reaches the tenants service.
func (k *keys) hash(key string) (string, error) {
	env, err := apikey.Parse(key)
	if err != nil || env != k.environment {
		return "", invalidKey()
	}
	return string(apikey.Hash(key)), nil
}

// cached returns the principal of a key that has worked in this process, and how long ago it was looked up or confirmed.
func (k *keys) cached(hash string) (p caller.Principal, age time.Duration, known bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	e, known := k.byHash[hash]
	if !known {
		return p, 0, false
	}
	return e.principal, k.clock().Sub(e.ConfirmedAt), true
}

// eachCopy calls renew with each cached principal.
func (k *keys) eachCopy(renew func(*tenants.Copy)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.byHash {
		renew(&e.Copy)
	}
}

// noteConfirmed notes that Redis has just taken a write and returned a version.
func (k *keys) noteConfirmed() {
	now := int64(k.clock().Sub(k.began))
	if last := k.confirmedAt.Swap(now); now-last >= int64(tenants.VersionLease) {
		k.gapEnd.Store(now)
	}
}

// mayLackVersion reports whether Redis may lack the version of a change that is younger than age.
func (k *keys) mayLackVersion(age time.Duration) bool {
	return k.happenedSince(&k.gapEnd, age)
}

// happenedSince reports whether something happened in the time of this length until now.
func (k *keys) happenedSince(at *atomic.Int64, age time.Duration) bool {
	happened := at.Load()
	return happened > 0 && k.clock().Sub(k.began.Add(time.Duration(happened))) <= age
}

// latest returns the principal for a request that got this version of the tenant's settings from Redis. If the version is unknown,
// Redis may have been set back, or the tenant moves to another cell, the look-up is not shared, because a change may have been
// answered since another look-up began. The principal of a tenant that moves is cached only to know that, and never used.
// The age of the cached principal is taken after Redis was asked: otherwise a new Redis that was found by asking would seem older.
func (k *keys) latest(ctx context.Context, hash string, version int64) (caller.Principal, error) {
	k.copies.Used(ctx)
	p, age, _ := k.cached(hash)
	switch {
	case version > p.TenantVersion && !p.Moving:
		return k.fetch(ctx, hash, version)
	case version == unknownVersion, p.Moving, k.happenedSince(&k.newRedisAt, age):
		return k.fetch(ctx, hash, -k.unshared.Add(1))
	case age >= tenants.VersionLease:
		return k.refresh(ctx, hash, p, age, version == p.TenantVersion)
	}
	return p, nil
}

// refresh looks up a key whose principal has outlived its lease. If that fails, the cached principal is used further, unless Redis
// did not confirm its version or may lack the version of a later change, or the principal is older than maxStale.
func (k *keys) refresh(
	ctx context.Context, hash string, p caller.Principal, age time.Duration, confirmed bool,
) (caller.Principal, error) {
	if !confirmed || age >= k.maxStale || k.mayLackVersion(age) {
		return k.fetch(ctx, hash, p.TenantVersion)
	}
	if failedAt := k.failedAt.Load(); failedAt != 0 && k.clock().Sub(k.began)-time.Duration(failedAt) < retryPause {
		return p, nil
	}
	waited, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	latest, err := k.fetch(waited, hash, p.TenantVersion)
	if err != nil && !problem.Is(err, problem.InvalidAPIKey) {
		return p, nil //nolint:nilerr // The principal is still good.
	}
	return latest, err
}

// fetch returns the principal of a key as of now. Requests that know of the same version of the tenant share a look-up.
func (k *keys) fetch(ctx context.Context, hash string, version int64) (caller.Principal, error) {
	select {
	case done := <-k.lookUp(ctx, hash, version):
		p, _ := done.Val.(caller.Principal)
		return p, done.Err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) { // The caller has left, which is no failure of the platform.
			return caller.Principal{}, ctx.Err()
		}
		return caller.Principal{}, fmt.Errorf("wait for the tenants service: %w", problem.Unavailable())
	}
}

// lookUp asks the tenants service for the principal and caches it. It does not end with the request that began it.
func (k *keys) lookUp(ctx context.Context, hash string, version int64) <-chan singleflight.Result {
	// A request must not share a look-up that began before the change that it knows of.
	return k.lookUps.DoChan(fmt.Sprintf("%s/%d", hash, version), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.lookUpTimeout)
		defer cancel()
		copied := k.copies.Begin()
		resolved, err := k.directory.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: []byte(hash)})
		unknown := problem.Is(err, problem.NotFound)
		if err != nil && !unknown {
			k.failedAt.Store(max(1, int64(k.clock().Sub(k.began))))
			return nil, fmt.Errorf("resolve key: %w", err)
		}
		k.failedAt.Store(0)
		if unknown {
			k.remove(hash)
			return nil, invalidKey()
		}
		p := caller.FromProto(resolved.GetPrincipal())
		copied.TenantID, copied.Version = p.TenantID, p.TenantVersion
		k.add(hash, &entry{copied, p})
		return p, nil
	})
}

func (k *keys) add(hash string, e *entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, known := k.byHash[hash]
	if known && old.Version > e.Version {
		return // This is a slow response to an earlier look-up.
	}
	if !known && len(k.byHash) >= maxKeys {
		for victim := range k.byHash {
			delete(k.byHash, victim)
			break
		}
	}
	k.byHash[hash] = e
}

func (k *keys) remove(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byHash, hash)
}
