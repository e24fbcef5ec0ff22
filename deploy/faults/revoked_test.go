//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	invalidKey = "invalid_api_key"
	// cachedFor is how long a gateway that cannot reach the rest may go on accepting a revoked key, and a second more.
	cachedFor = 6 * time.Second
)

// revokeKeys makes keys, uses them, and revokes them. Once revoked and no longer cached, they must be refused.
func (f *fixture) revokeKeys(ctx context.Context) {
	for ctx.Err() == nil {
		f.revokeKey(context.WithoutCancel(ctx))
		sleep(ctx, meanPause)
	}
}

func (f *fixture) revokeKey(ctx context.Context) {
	key, id, err := f.newKey(ctx)
	if err != nil {
		return
	}
	by, what := f.client.with(key), call{method: http.MethodGet, path: "/orders?limit=1"}
	for range by.bases { // Each gateway caches it now.
		if _, ok := by.send(ctx, what); !ok {
			return
		}
	}
	for revoked := false; !revoked; {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		_, err := f.keys.RevokeKey(try, &tenantsv1.RevokeKeyRequest{KeyId: id})
		cancel()
		f.count("revoke " + status.Code(err).String())
		if revoked = err == nil || status.Code(err) == codes.NotFound; !revoked {
			sleep(ctx, retryInterval)
		}
	}
	sleep(ctx, cachedFor)
	what.problems = []string{invalidKey}
	for range by.bases {
		began := time.Now()
		a, ok := by.send(ctx, what)
		violation := ""
		if ok && a.code() != invalidKey {
			violation = fmt.Sprintf("key %d was revoked and sees %s", id, a.body)
		}
		f.check(leak, began, time.Now(), violation)
	}
}
