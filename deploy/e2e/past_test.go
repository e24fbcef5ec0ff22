package e2e_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// past is where the feeds of the demo's tenants ended before the test, on a platform that has been running: reading what
// other runs left would use up the rate limit. It is empty for a stack of this process.
type past struct {
	cursors map[string]string
	// tenants of keys.
	tenants sync.Map
}

// after is the part of a query that passes over the past of the key's tenant.
func (l *past) after(t *testing.T, p *platform, key string) string {
	t.Helper()
	if l.cursors == nil {
		return ""
	}
	tenant, known := l.tenants.Load(key)
	if !known {
		me := p.get(t, key, "/me")
		if me.status != http.StatusOK {
			return ""
		}
		tenant = me.object(t)["tenant"].(map[string]any)["id"]
		l.tenants.Store(key, tenant)
	}
	if cursor := l.cursors[tenant.(string)]; cursor != "" {
		return "&after=" + cursor
	}
	return ""
}

// passOver reads the feeds of the demo's tenants to their ends.
func (p *platform) passOver(t *testing.T) {
	t.Helper()
	cursors := map[string]string{}
	for _, tenant := range []string{seed.Direct, seed.Approving} {
		cursors[tenant] = p.endOfFeed(t, tenant)
	}
	p.past.cursors = cursors
}

// endOfFeed takes a new key whenever the one before has used up its requests.
func (p *platform) endOfFeed(t *testing.T, tenant string) (cursor string) {
	t.Helper()
	const pagesOfAKey = 250
	for {
		made := p.createKey(t, &tenantsv1.CreateKeyRequest{
			TenantId: tenant, Name: "end-to-end test", Scopes: allScopes, AllBrands: true,
		})
		for range pagesOfAKey {
			path := "/events?limit=100"
			if cursor != "" {
				path += "&after=" + cursor
			}
			a := p.send(t, call{method: http.MethodGet, path: path, key: made.GetApiKey()})
			require.Equal(t, http.StatusOK, a.status, a.body)
			var page struct {
				Items      []json.RawMessage `json:"items"`
				NextCursor string            `json:"nextCursor"`
			}
			require.NoError(t, json.Unmarshal([]byte(a.body), &page))
			if len(page.Items) == 0 {
				return cursor
			}
			cursor = page.NextCursor
		}
	}
}
