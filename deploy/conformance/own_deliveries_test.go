package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ownReceiver is a key whose webhook answers in this process with a status that the test sets.
type ownReceiver struct {
	key    string
	status atomic.Int32
	// arrived has the ids of the events that came.
	arrived chan string
}

func (f *fixture) newOwnReceiver(t *testing.T, status int) *ownReceiver {
	t.Helper()
	requireNearby(t, f.platform)
	r := &ownReceiver{arrived: make(chan string, 1000)}
	r.status.Store(int32(status)) //nolint:gosec // An HTTP status has three digits.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(int(r.status.Load()))
		_, _ = w.Write([]byte("seen \xff"))
		r.arrived <- req.Header.Get("Service-Event-Id")
	}))
	t.Cleanup(server.Close)
	r.key = f.newKey(t, func(key *tenantsv1.CreateKeyRequest) { key.WebhookUrl = &server.URL })
	return r
}

// ownDeliveries lists the deliveries of a key, all pages of them.
func (f *fixture) ownDeliveries(t *testing.T, key, query string) []record {
	t.Helper()
	return f.All(t, key, "/webhooks/deliveries?limit=1"+query)
}

// awaitOwn waits until the key has so many deliveries in a state, all of them attempted.
func (f *fixture) awaitOwn(t *testing.T, key, state string, number int) (found []record) {
	t.Helper()
	require.Eventually(t, func() bool {
		found = f.ownDeliveries(t, key, "&state="+state)
		for _, d := range found {
			if len(d["attempts"].([]any)) == 0 {
				return false
			}
		}
		return len(found) == number
	}, harness.Slow, 50*time.Millisecond)
	return found
}

func testOwnDeliveries(t *testing.T, p *platform) {
	f := newFixture(t, p)
	receiver := f.newOwnReceiver(t, http.StatusServiceUnavailable)
	first := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	f.awaitOwn(t, receiver.key, "PENDING", 1)
	receiver.status.Store(http.StatusOK)
	second := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
	f.awaitOwn(t, receiver.key, "DELIVERED", 1)
	list := f.ownDeliveries(t, receiver.key, "")
	require.Len(t, list, 2)
	sent, waiting := list[0], list[1]

	requirement(t, "WHD-1", func(t *testing.T) {
		require.Equal(t, second.ID, sent["eventId"])
		require.Equal(t, first.ID, waiting["eventId"])
		items, next := f.Page(t, receiver.key, "/webhooks/deliveries")
		require.Equal(t, list, items)
		require.Empty(t, next)
	})
	requirement(t, "WHD-2", func(t *testing.T) {
		require.Equal(t, "order.created", waiting["type"])
		require.Equal(t, first.Object(t)["occurredAt"], waiting["occurredAt"])
		require.Equal(t, []any{"PENDING", "DELIVERED"}, []any{waiting["state"], sent["state"]})
		next, err := time.Parse(time.RFC3339, waiting["nextAttemptAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(time.Minute), next, time.Minute)
		require.Nil(t, sent["nextAttemptAt"])
		require.NoError(t, uuid.Validate(sent["id"].(string)))
		require.NotEqual(t, sent["id"], sent["eventId"])
	})
	requirement(t, "WHD-3", func(t *testing.T) {
		require.Len(t, waiting["attempts"], 1)
		failed, ended := waiting["attempts"].([]any)[0].(record), sent["attempts"].([]any)[0].(record)
		require.InDelta(t, http.StatusServiceUnavailable, failed["status"], 0)
		require.Contains(t, failed["error"], "503")
		require.Equal(t, "seen \uFFFD", failed["responseBody"])
		require.InDelta(t, http.StatusOK, ended["status"], 0)
		require.Nil(t, ended["error"])
		at, err := time.Parse(time.RFC3339, failed["at"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
		require.GreaterOrEqual(t, failed["durationMs"], 0.0)
	})
	f.testOwnFilters(t, receiver.key, first.ID, second.ID)
	requirement(t, "WHD-6", func(t *testing.T) {
		for _, key := range []string{f.key, f.newKey(t), newFixture(t, p).key} {
			require.Empty(t, f.ownDeliveries(t, key, ""))
		}
	})
}

func (f *fixture) testOwnFilters(t *testing.T, key, first, second string) {
	requirement(t, "WHD-4", func(t *testing.T) {
		for query, want := range map[string][]string{
			"&state=DELIVERED": {second}, "&state=EXHAUSTED": nil, "&state=DROPPED": nil, "&state=PENDING&type=order.created": {first},
			"&type=personal_link.created": nil, "&eventId=" + strings.ToUpper(first): {first}, "&eventId=" + uuid.NewString(): nil,
			"&since=2020-01-01T00:00:00Z": {second, first}, "&since=2999-01-01T00:00:00Z": nil,
		} {
			var got []string
			for _, d := range f.ownDeliveries(t, key, query) {
				got = append(got, d["eventId"].(string))
			}
			require.Equal(t, want, got, query)
		}
	})
	requirement(t, "WHD-5", func(t *testing.T) {
		for query, want := range map[string][]string{
			"state=FAILED&type=ping&eventId=x&since=today&limit=0": {"state invalid", "type invalid", "eventId invalid", "since invalid", "limit invalid"},
			"after=x": {"after invalid"},
		} {
			f.Get(t, key, "/webhooks/deliveries?"+query).Invalid(t, want...)
		}
		_, next := f.Page(t, key, "/webhooks/deliveries?limit=1")
		f.Get(t, key, "/webhooks/deliveries?limit=1&type=order.created&after="+next).Invalid(t, "after invalid")
		f.Get(t, f.newKey(t), "/webhooks/deliveries?limit=1&after="+next).Invalid(t, "after invalid")
	})
}
