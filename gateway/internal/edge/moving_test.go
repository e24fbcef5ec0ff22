package edge_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// moveFixture is a gateway in front of two cells. The tenant is in the first one.
type moveFixture struct {
	*gatewaytest.Fixture

	other    *gatewaytest.Services
	measured *telemetrytest.Record
}

func setupMove(t *testing.T, configure func(*gateway.Config)) *moveFixture {
	t.Helper()
	f := &moveFixture{measured: telemetrytest.New()}
	f.Fixture = gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: f.measured.Telemetry, Configure: configure})
	f.other = f.AddCell(t, "b")
	return f
}

// begin sends a request. Its answer arrives on the channel.
func (f *moveFixture) begin(method, path, body string) <-chan gatewaytest.Answer {
	answered := make(chan gatewaytest.Answer, 1)
	fixture := *f.Fixture
	go func() { answered <- fixture.Do(method, path, body) }()
	return answered
}

// held returns when a request was tried again at least once: each time, its key is looked up.
func (f *moveFixture) held(t *testing.T, lookUps int) {
	t.Helper()
	eventually(t, func() bool { return f.Directory.Calls("ResolveKey") > lookUps+4 })
}

func TestACallGoesToTheCellOfItsTenant(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	f.Move(t, "b", false)
	require.Equal(t, http.StatusCreated, f.Do("POST", "/orders", anOrder).Status)
	require.Equal(t, http.StatusOK, f.Do("GET", "/orders", "").Status)
	require.Equal(t, http.StatusOK, f.Do("GET", "/events", "").Status)
	require.Zero(t, f.Calls.Load())
	require.EqualValues(t, 2, f.other.Calls.Load())
	require.EqualValues(t, 1, f.other.Feed.Reads.Load())
	t.Run("and claims and releases its Idempotency-Key there", func(t *testing.T) {
		f.other.Failure = problem.RecordNotFound()
		require.Equal(t, http.StatusNotFound, f.Do("POST", "/webhooks:test", "{}").Status)
		require.Len(t, f.other.Notes(), 3)
		require.Empty(t, f.Notes())
	})
}

func TestACallIsHeldWhileItsTenantMoves(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		method, body string
		status       int
	}{
		"/orders":          {http.MethodPost, anOrder, http.StatusCreated},
		"/webhooks:test":   {http.MethodPost, "{}", http.StatusOK},
		"/orders/an-order": {http.MethodGet, "", http.StatusOK},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := setupMove(t, nil)
			f.Failure, f.Replayed = problem.Unavailable(), true
			f.Move(t, "a", true)
			answered := f.begin(want.method, path, want.body)
			f.held(t, f.Directory.Calls("ResolveKey"))
			require.Empty(t, answered)
			f.Move(t, "b", false)
			got := <-answered
			require.Equal(t, want.status, got.Status, got.Body)
			require.Empty(t, got.Header.Get("Idempotent-Replayed"), "the new cell has not said so")
			require.Equal(t, f.Seen.IdempotencyKey, f.other.Seen.IdempotencyKey)
			require.Equal(t, f.Seen.Fingerprint, f.other.Seen.Fingerprint)
		})
	}
}

func TestAHeldCallReportsEachViolationOnce(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	f.Failure = problem.Unavailable()
	f.Move(t, "a", true)
	answered := f.begin("POST", "/orders:validate", `{"externalOrderId":5}`)
	f.held(t, f.Directory.Calls("ResolveKey"))
	f.Move(t, "b", false)
	got := <-answered
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	require.Len(t, f.other.Seen.Violations, 1)
}

func TestAHeldCallOfTheFeedGoesOnInTheNewCell(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	wait := &waitFixture{f.Fixture, f.measured}
	answered := wait.hold(t.Context(), t, "")
	eventually(t, func() bool { return f.Feed.Watchers() == 1 && f.other.Feed.Watchers() == 1 })
	f.Feed.Down.Store(true)
	f.Move(t, "a", true)
	before := f.Feed.Reads.Load()
	f.Feed.Commit(nil)
	eventually(t, func() bool { return f.Feed.Reads.Load() > before+1 })
	id := f.other.Feed.CommitUnannounced()
	f.Move(t, "b", false)
	requireItems(t, <-answered, id)
}

func TestAnEventOfTheNewCellWakesACallThatWaitedInTheOldOne(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	wait := &waitFixture{f.Fixture, f.measured}
	answered := wait.hold(t.Context(), t, "")
	eventually(t, func() bool { return f.Feed.Watchers() == 1 && f.other.Feed.Watchers() == 1 })
	f.Move(t, "b", false)
	id := f.other.Feed.Commit(nil)
	requireItems(t, <-answered, id)
}

// What the first cell answers may be older than the move, and the key was looked up before it.
func TestACallThatBeganBeforeTheMoveGoesToTheNewCell(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure error
		// moving is whether the tenant moves when the call begins, and cell where the tenant is when the first cell answers.
		moving bool
		cell   string
	}{
		"the move begins meanwhile":                           {problem.Unavailable(), false, "a"},
		"the move begins and ends meanwhile":                  {problem.Unavailable(), false, "b"},
		"the first cell finds nothing of the tenant any more": {problem.RecordNotFound(), true, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupMove(t, nil)
			f.Failure = tc.failure
			f.Move(t, "a", tc.moving)
			entered, release := make(chan struct{}, 100), make(chan struct{})
			f.Hold = func() { entered <- struct{}{}; <-release }
			answered := f.begin("POST", "/orders", anOrder)
			<-entered
			lookUps := f.Directory.Calls("ResolveKey")
			f.Move(t, tc.cell, tc.cell == "a")
			close(release)
			if tc.cell == "a" {
				f.held(t, lookUps)
				f.Move(t, "b", false)
			}
			require.Equal(t, http.StatusCreated, (<-answered).Status)
			require.EqualValues(t, 1, f.other.Calls.Load())
		})
	}
}

func TestAnAnswerOfTheCellOfTheTenantIsNotDoubted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure *problem.Error
		moving  bool
	}{
		"unavailable, and the tenant does not move": {problem.Unavailable(), false},
		"not found, although the tenant moves":      {problem.RecordNotFound(), true},
		"refused, although the tenant moves":        {problem.New(problem.OutOfStock, "x"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupMove(t, nil)
			f.Failure = tc.failure
			f.Move(t, "a", tc.moving)
			require.Equal(t, string(tc.failure.Code), f.Do("POST", "/orders", anOrder).Parsed["code"])
			require.EqualValues(t, 1, f.Calls.Load())
		})
	}
}

func TestACallIsHeldForTenSeconds(t *testing.T) {
	t.Parallel()
	f := setupMove(t, func(cfg *gateway.Config) { cfg.Limits.RequestsPerKey = 1 })
	f.Failure = problem.Unavailable()
	f.Move(t, "a", true)
	began := time.Now()
	answered := f.begin("POST", "/orders", anOrder)
	f.held(t, f.Directory.Calls("ResolveKey"))
	require.Equal(t, http.StatusTooManyRequests, f.Do("GET", "/me", "").Status, "it counts as a request in flight")
	got := <-answered
	require.Equal(t, http.StatusServiceUnavailable, got.Status)
	require.Equal(t, "2", got.Header.Get("Retry-After"))
	require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
	require.LessOrEqual(t, f.Calls.Load(), int32(101), "it pauses between two tries")
}

func TestACallerThatLeavesEndsItsHeldCall(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	f.Failure = problem.Unavailable()
	f.Move(t, "a", true)
	ctx, leave := context.WithCancel(t.Context())
	req := f.Request("POST", "/webhooks:test", http.NoBody).WithContext(ctx)
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		ended <- err
	}()
	f.held(t, f.Directory.Calls("ResolveKey"))
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	statuses := (&interruptible{measured: f.measured}).statuses
	eventually(t, func() bool { return statuses(t)["/webhooks:test 499"] == 1 })
}

func TestAKeyThatIsRevokedWhileItsCallIsHeldIsRefused(t *testing.T) {
	t.Parallel()
	f := setupMove(t, nil)
	f.Failure = problem.Unavailable()
	f.Move(t, "a", true)
	answered := f.begin("POST", "/orders", anOrder)
	f.held(t, f.Directory.Calls("ResolveKey"))
	f.Revoke(t, f.Key)
	require.Equal(t, http.StatusUnauthorized, (<-answered).Status)
}

// The directory has no version of the tenant in Redis here, so that each request looks its key up exactly once.
func TestWithOneCellARequestNeedsNoFurtherCallOfTheDirectory(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	site := *f
	site.BaseURL = f.BaseURL[:len(f.BaseURL)-len("/api/public/v1")]
	before := f.Directory.Calls("ResolveKey")
	requests := 0
	do := func(f *gatewaytest.Fixture, method, path string, status int) {
		t.Helper()
		requests++
		require.Equal(t, status, f.Do(method, path, anOrder).Status)
	}
	for range 5 {
		do(f, "POST", "/orders", http.StatusCreated)
		do(f, "GET", "/orders", http.StatusOK)
	}
	require.Zero(t, f.Directory.Lists.Load(), "the list of cells is not needed yet")
	f.Failure = problem.Unavailable()
	for range 5 {
		do(f, "POST", "/orders", http.StatusServiceUnavailable)
	}
	require.Equal(t, requests, f.Directory.Calls("ResolveKey")-before)
	for range 5 {
		do(f, "GET", "/catalog/images/other", http.StatusNotFound)
		do(&site, "GET", "/c/unknown-token-unknown", http.StatusNotFound)
	}
	require.EqualValues(t, 1, f.Directory.Lists.Load(), "one call for all of them")
	require.Zero(t, f.Directory.Calls("GetTenantSettings"))
}
