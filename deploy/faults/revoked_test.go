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
	// believedFor is how long a gateway that cannot be told may still believe in a key, and a second more.
	believedFor = 6 * time.Second
)

// revoke makes keys, uses them, and revokes them: after the answer to that, and what a gateway may miss, they open nothing.
func (c *scene) revoke(ctx context.Context) {
	for ctx.Err() == nil {
		c.revokeOne(context.WithoutCancel(ctx))
		pauseFor(ctx, meanRest)
	}
}

func (c *scene) revokeOne(ctx context.Context) {
	key, id, err := c.newKey(ctx)
	if err != nil {
		return
	}
	asking, what := c.client.with(key), call{method: http.MethodGet, path: "/orders?limit=1"}
	for range asking.bases { // Each gateway remembers it now.
		if _, ok := asking.exchange(ctx, what); !ok {
			return
		}
	}
	for revoked := false; !revoked; {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		_, err := c.keys.RevokeKey(attempt, &tenantsv1.RevokeKeyRequest{KeyId: id})
		cancel()
		c.count("revoke " + status.Code(err).String())
		if revoked = err == nil || status.Code(err) == codes.NotFound; !revoked {
			pauseFor(ctx, retryEvery)
		}
	}
	pauseFor(ctx, believedFor)
	what.may = []string{invalidKey}
	for range asking.bases {
		began := time.Now()
		a, ok := asking.exchange(ctx, what)
		wrong := ""
		if ok && a.code() != invalidKey {
			wrong = fmt.Sprintf("key %d was revoked and sees %s", id, a.body)
		}
		c.hold(leak, began, time.Now(), wrong)
	}
}
