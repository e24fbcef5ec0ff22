package access

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

var policy = limits.Policy{Name: "key", Limit: 300, Window: time.Minute}

// newChecker makes a Checker. Without Redis no version is known, so every request looks its key up.
func newChecker(t *testing.T, directory *tenantstest.Directory, client *redis.Client) *Checker {
	t.Helper()
	limiter, err := limits.New(
		limits.Deps{Redis: client, Meter: noop.Meter{}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)},
		limits.Config{Policy: policy, RedisBudget: 20 * time.Second})
	require.NoError(t, err)
	return New(Deps{
		Directory: directory.Client, Limiter: limiter, Failures: limits.NewWindow(policy, time.Now),
		ClientIP: func(*http.Request) string { return "ip" }, Clock: time.Now,
	}, Config{Environment: apikey.Sandbox})
}

func newRequest(t *testing.T) *http.Request {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/me", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+apikey.New(apikey.Sandbox))
	return request
}

func TestARequestThatWasCountedHasTheHeadersOfTheLimitEvenIfItsKeyCannotBeLookedUpAgain(t *testing.T) {
	t.Parallel()
	directory := tenantstest.NewDirectory(t)
	directory.SetKeys(func([]byte) *commonv1.Principal { return &commonv1.Principal{TenantId: "t", TenantVersion: 1} })
	checker, request := newChecker(t, directory, nil), newRequest(t)

	_, err := checker.Check(http.Header{}, request)
	require.NoError(t, err)
	directory.Fail(problem.Unavailable())
	header := http.Header{}
	_, err = checker.Check(header, request)
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	require.Regexp(t, `^"key";r=298;t=\d+$`, header.Get("RateLimit"))
	require.Equal(t, `"key";q=300;w=60`, header.Get("RateLimit-Policy"))
}

// A request may share the first look-up of its key, and Redis may be set back to the version of that look-up.
func TestANewKeyThatIsRevokedDuringItsLookUpIsRefusedAlsoByAnotherRedis(t *testing.T) {
	t.Parallel()
	client, err := redisconn.Open(testenv.Require(t, testenv.RedisURL), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	tenant := uuid.NewString()
	require.NoError(t, client.Set(t.Context(), tenants.VersionKey(tenant), 1, time.Minute).Err())
	directory := tenantstest.NewDirectory(t)
	directory.SetKeys(func([]byte) *commonv1.Principal { return &commonv1.Principal{TenantId: tenant, TenantVersion: 1} })
	checker := newChecker(t, directory, client)
	directory.OnCall(func(context.Context, proto.Message) error {
		directory.SetKeys(func([]byte) *commonv1.Principal { return nil })
		checker.NoteNewRedis()
		return nil
	})
	_, err = checker.Check(http.Header{}, newRequest(t))
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
}

// Another look-up may have begun before the key was revoked.
func TestAKeyThatIsNotCachedAnyMoreIsCheckedAgainByALookUpOfItsOwn(t *testing.T) {
	t.Parallel()
	directory := tenantstest.NewDirectory(t)
	checker, request := newChecker(t, directory, nil), newRequest(t)
	var both errgroup.Group
	let := make(chan struct{})
	directory.OnCall(func(context.Context, proto.Message) error { <-let; return nil })
	for range 2 {
		both.Go(func() error {
			_, err := checker.Recheck(request)
			return err
		})
	}
	require.Eventually(t, func() bool { return directory.Calls("ResolveKey") == 2 }, 20*time.Second, time.Millisecond)
	close(let)
	require.True(t, problem.Is(both.Wait(), problem.InvalidAPIKey))
}
