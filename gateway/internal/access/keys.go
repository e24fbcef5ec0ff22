// Package access authenticates API keys (API specification, section Authentication).
//
// A key's principal is kept in the process. Each request learns the version of its tenant's
// settings in the round trip that counts it; a copy that is older, or has not been confirmed for a
// while, is fetched again, so a revoked key is refused from the next request on.
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
	// maxAge bounds how long a principal is believed without asking, whatever the version says:
	// it covers a version that could not be published or read.
	maxAge  = 5 * time.Second
	maxKeys = 50_000
)

// Keys resolves API keys to principals.
type Keys struct {
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

// NewKeys makes an empty cache over the tenants service.
func NewKeys(directory tenantsv1.DirectoryServiceClient, env apikey.Environment, clock func() time.Time) *Keys {
	return &Keys{directory: directory, environment: env, clock: clock, byHash: map[string]entry{}}
}

// Refused is the one answer to every key that does not open the door, so that none tells why.
func Refused() *problem.Error {
	return problem.New(problem.InvalidAPIKey, "The API key is missing, unknown, revoked or not of this environment.")
}

// Hash checks the form of the key and gives the hash it is known by. A key of the other
// environment or with a wrong checksum never reaches the tenants service.
func (k *Keys) Hash(key string) (string, error) {
	env, err := apikey.Parse(key)
	if err != nil || env != k.environment {
		return "", Refused()
	}
	return string(apikey.Hash(key)), nil
}

// Known gives the principal of a key the process has seen work, and whether the copy is young
// enough to be believed without asking.
func (k *Keys) Known(hash string) (p caller.Principal, fresh, known bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	e, known := k.byHash[hash]
	return e.principal, known && k.clock().Sub(e.fetched) < maxAge, known
}

// Fetch asks the tenants service and keeps the answer.
func (k *Keys) Fetch(ctx context.Context, hash string) (caller.Principal, error) {
	asked := k.clock()
	resolved, err := k.directory.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: []byte(hash)})
	if problem.Is(err, problem.NotFound) {
		k.forget(hash)
		return caller.Principal{}, Refused()
	}
	if err != nil {
		return caller.Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	p := caller.FromProto(resolved.GetPrincipal())
	k.keep(hash, entry{principal: p, fetched: asked})
	return p, nil
}

func (k *Keys) keep(hash string, e entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.byHash[hash]; ok && old.principal.TenantVersion > e.principal.TenantVersion {
		return // A slower answer to an earlier question.
	}
	if len(k.byHash) >= maxKeys {
		for victim := range k.byHash {
			delete(k.byHash, victim)
			break
		}
	}
	k.byHash[hash] = e
}

func (k *Keys) forget(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byHash, hash)
}
