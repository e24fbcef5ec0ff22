package edge_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const tick = 2 * time.Millisecond

// waitFixture is a gateway whose held calls can be counted.
type waitFixture struct {
	*gatewaytest.Fixture

	measured *telemetrytest.Record
}

func setupWait(t *testing.T, o gatewaytest.Options) *waitFixture {
	t.Helper()
	f := &waitFixture{measured: telemetrytest.New()}
	o.Telemetry = f.measured.Telemetry
	f.Fixture = gatewaytest.NewWith(t, o)
	return f
}

func (f *waitFixture) heldCalls(t *testing.T) int {
	t.Helper()
	return int(f.measured.Values(t, "gifting.gateway.waiting")[""])
}

// cursor is that of the end of the feed.
func (f *waitFixture) cursor() string {
	return f.Do("GET", "/events", "").Parsed["nextCursor"].(string)
}

// hold begins a call that waits for an event after the cursor, and returns when it is held. Its answer arrives on the channel,
// which is closed if there is none.
func (f *waitFixture) hold(ctx context.Context, t *testing.T, after string) <-chan gatewaytest.Answer {
	t.Helper()
	already := f.heldCalls(t)
	answered := make(chan gatewaytest.Answer, 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.BaseURL+"/events?wait=30"+after, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+f.Key)
	go func() {
		defer close(answered)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer func() { _ = resp.Body.Close() }()
		got := gatewaytest.Answer{Status: resp.StatusCode, Header: resp.Header}
		if resp.Close {
			got.Header.Set("Connection", "close") // The client has removed it.
		}
		if json.NewDecoder(resp.Body).Decode(&got.Parsed) == nil {
			answered <- got
		}
	}()
	require.Eventually(t, func() bool { return f.heldCalls(t) == already+1 }, gatewaytest.Patience, tick)
	return answered
}

// streams returns when the first call that is held was woken because the stream has begun, and has read in vain.
func (f *waitFixture) streams(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return f.Feed.Found.Load() == 2 }, gatewaytest.Patience, tick)
}

func requireItems(t *testing.T, got gatewaytest.Answer, ids ...string) {
	t.Helper()
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	found := []string{}
	for _, item := range got.Parsed["items"].([]any) {
		found = append(found, item.(map[string]any)["id"].(string))
	}
	require.ElementsMatch(t, ids, found)
}

func TestACallThatWaitsInVainIsAnsweredAsWithoutWait(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	began := time.Now()
	got := f.Do("GET", "/events?wait=1", "")
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	want := f.Do("GET", "/events", "")
	require.JSONEq(t, want.Body, got.Body)
	require.Equal(t, want.Header.Get("Feed-Position"), got.Header.Get("Feed-Position"))
	require.Empty(t, f.Do("HEAD", "/events?wait=1", "").Body)
	require.Regexp(t, `r=295;`, f.Do("GET", "/events?wait=0", "").Header.Get("RateLimit"),
		"/me, and four calls, however long they were")
}

func TestOnlyTheKeysThatSeeAnEventAreWoken(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	answered := f.hold(t.Context(), t, "")
	f.streams(t)
	unscoped := *f.Fixture
	unscoped.Key = f.UnscopedKey()
	unscopedAnswer := (&waitFixture{&unscoped, f.measured}).hold(t.Context(), t, "")
	require.EqualValues(t, 3, f.Feed.Reads.Load())
	f.Feed.Commit(func(n *eventsv1.FeedNotice) { n.TenantId = uuid.NewString() })
	f.Feed.Commit(func(n *eventsv1.FeedNotice) { n.Scope = commonv1.Scope_SCOPE_PERSONAL_LINKS })
	f.Feed.Commit(func(n *eventsv1.FeedNotice) { n.HiddenFromKeyId = f.KeyID(f.Key) })
	seen := f.Feed.Commit(nil)
	requireItems(t, <-answered, seen)
	require.EqualValues(t, 4, f.Feed.Reads.Load(), "one read for all of them")
	require.Empty(t, unscopedAnswer)
}

func TestAnEventBetweenRegistrationAndHoldIsNotMissed(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	f.hold(t.Context(), t, "") // So that the stream has begun.
	f.streams(t)
	for range 20 {
		f.UseNewCaller()
		cursor := f.cursor()
		at := f.Feed.Reads.Load()
		committed := make(chan string, 1)
		commit := func(n int32) {
			if n == at+1 {
				go func() { committed <- f.Feed.Commit(nil) }() // At the same time as the read.
			}
		}
		f.Feed.BeforeRead.Store(&commit)
		got := f.Do("GET", "/events?wait=30&after="+cursor, "")
		requireItems(t, got, <-committed)
	}
}

func TestABrokenStreamMissesNoEvent(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	answered := f.hold(t.Context(), t, "")
	require.Eventually(t, func() bool { return f.Feed.Watchers() == 1 }, gatewaytest.Patience, tick)
	f.Feed.BreakStreams()
	id := f.Feed.CommitUnannounced()
	requireItems(t, <-answered, id)
}

func TestAKeyHoldsFourCallsOnAllGateways(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	other := setupWait(t, gatewaytest.Options{Services: f.Services})
	other.Key = f.Key
	var answered []<-chan gatewaytest.Answer
	for _, on := range []*waitFixture{f, other, f, other} {
		answered = append(answered, on.hold(t.Context(), t, ""))
	}
	for _, on := range []*waitFixture{f, other} {
		got := on.Do("GET", "/events?wait=30", "")
		requireItems(t, got)
		require.Equal(t, "0", got.Header.Get("Wait"))
	}
	key := f.Key
	f.UseNewCaller()
	answered = append(answered, f.hold(t.Context(), t, ""))
	id := f.Feed.Commit(nil)
	for _, answer := range answered {
		requireItems(t, <-answer, id)
	}
	f.Key = key
	f.hold(t.Context(), t, "&after="+f.cursor())
}

func TestACallWithABodyIsNotHeld(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	got := f.Do("GET", "/events?wait=30", "{}")
	require.Equal(t, http.StatusOK, got.Status)
	require.Equal(t, "0", got.Header.Get("Wait"))
}

func TestWithoutRedisAGatewayCountsHeldCallsAlone(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{Configure: func(c *gateway.Config) { c.RedisURL = "" }})
	for range 4 {
		f.hold(t.Context(), t, "")
	}
	require.Equal(t, "0", f.Do("GET", "/events?wait=30", "").Header.Get("Wait"))
}

func TestAGatewayHoldsABoundedNumberOfCalls(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{Configure: func(c *gateway.Config) { c.WaitingCalls = 1 }})
	f.hold(t.Context(), t, "")
	f.UseNewCaller()
	require.Equal(t, "0", f.Do("GET", "/events?wait=30", "").Header.Get("Wait"))
}

func TestAHeldCallIsNotInFlight(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{Configure: func(c *gateway.Config) {
		c.Limits.RequestsPerKey, c.Limits.RequestsPerTenant = 1, 1
	}})
	answered := f.hold(t.Context(), t, "")
	require.Eventually(t, func() bool { return f.Do("GET", "/me", "").Status == http.StatusOK }, gatewaytest.Patience, tick)
	id := f.Feed.Commit(nil)
	requireItems(t, <-answered, id)
}

func TestAKeyThatIsRevokedWhileItsCallIsHeldGetsNothing(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	answered := f.hold(t.Context(), t, "")
	f.streams(t)
	f.Revoke(t, f.Key)
	f.Feed.BreakStreams() // It wakes the call. An event might be read by what began before.
	got := <-answered
	require.Equal(t, http.StatusUnauthorized, got.Status)
	require.Equal(t, "invalid_api_key", got.Parsed["code"])
	require.NotContains(t, got.Parsed, "items")
	require.Empty(t, got.Header.Get("Feed-Position"))
}

func TestARefusalAfterAHoldIsLoggedWithItsKey(t *testing.T) {
	t.Parallel()
	var log telemetrytest.Log
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{}, &log)
	require.NoError(t, err)
	f := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel})
	req := f.Request("GET", "/events?wait=30", nil)
	go func() { _ = sendAlone(req) }()
	(&waitFixture{Fixture: f}).streams(t)
	f.Revoke(t, f.Key)
	f.Feed.BreakStreams() // It wakes the call. An event might be read by what began before.
	require.Eventually(t, func() bool {
		return regexp.MustCompile(`"status":401.*"key_id":[1-9]`).MatchString(log.String())
	}, gatewaytest.Patience, tick)
}

func TestACallerThatLeavesFreesItsSlot(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	ctx, leave := context.WithCancel(t.Context())
	for range 4 {
		f.hold(ctx, t, "")
	}
	leave()
	require.Eventually(t, func() bool { return f.heldCalls(t) == 0 }, gatewaytest.Patience, tick)
	f.hold(t.Context(), t, "")
	const gone = "http.request.method=GET,http.response.status_code=499,http.route=/events,url.scheme=http"
	require.Eventually(t, func() bool {
		return f.measured.Values(t, "http.server.request.duration")[gone] == 4
	}, gatewaytest.Patience, tick, "they are no failures of the platform")
}

func TestAGatewayThatEndsAnswersWhatItHolds(t *testing.T) {
	t.Parallel()
	for _, lameDuck := range []time.Duration{0, time.Second} {
		t.Run(lameDuck.String(), func(t *testing.T) {
			t.Parallel()
			f := setupWait(t, gatewaytest.Options{Configure: func(c *gateway.Config) { c.LameDuck = lameDuck }})
			answered := f.hold(t.Context(), t, "")
			f.Shutdown()
			got := <-answered
			requireItems(t, got)
			require.Equal(t, "0", got.Parsed["nextCursor"].(string)[:1])
			require.Equal(t, "close", got.Header.Get("Connection"))
			require.NoError(t, f.WaitForEnd())
		})
	}
}

func TestAServiceThatIsDownAfterAHoldIsUnavailable(t *testing.T) {
	t.Parallel()
	f := setupWait(t, gatewaytest.Options{})
	answered := f.hold(t.Context(), t, "")
	f.Feed.Down.Store(true)
	f.Feed.Commit(nil)
	got := <-answered
	require.Equal(t, http.StatusServiceUnavailable, got.Status)
	require.NotEmpty(t, got.Header.Get("Retry-After"))
}
