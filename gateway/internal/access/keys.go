package access

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// maxAge is how long a cached principal is used without a look-up, whatever the tenant's version. It bounds the delay of a
	// change whose version could not be published or read.
	maxAge  = 5 * time.Second
	maxKeys = 50_000
)

// keys caches the principals of API keys.
type keys struct {
	directory   tenantsv1.DirectoryServiceClient
	environment apikey.Environment
	clock       func() time.Time

	mu     sync.RWMutex
	byHash map[string]entry
}

type entry struct {
	principal caller.Principal
	fetched   time.Time
}

func newKeys(directory tenantsv1.DirectoryServiceClient, env apikey.Environment, clock func() time.Time) *keys {
	return &keys{directory: directory, environment: env, clock: clock, byHash: map[string]entry{}}
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

// cached returns the principal of a key that has worked in this process, and whether it may be used without a look-up.
func (k *keys) cached(hash string) (p caller.Principal, fresh, known bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	e, known := k.byHash[hash]
	return e.principal, known && k.clock().Sub(e.fetched) < maxAge, known
}

// fetch looks the key up in the tenants service and caches the principal.
func (k *keys) fetch(ctx context.Context, hash string) (caller.Principal, error) {
	began := k.clock()
	resolved, err := k.directory.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: []byte(hash)})
	if problem.Is(err, problem.NotFound) {
		k.remove(hash)
		return caller.Principal{}, invalidKey()
	}
	if err != nil {
		return caller.Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	p := caller.FromProto(resolved.GetPrincipal())
	k.add(hash, entry{principal: p, fetched: began})
	return p, nil
}

func (k *keys) add(hash string, e entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.byHash[hash]; ok && old.principal.TenantVersion > e.principal.TenantVersion {
		return // This is a slow response to an earlier look-up.
	}
	if len(k.byHash) >= maxKeys {
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
