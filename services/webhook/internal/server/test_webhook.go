package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

// replyTime is the time before the caller's deadline that a test reserves to report a receiver that does not respond.
const replyTime = 500 * time.Millisecond

const noURL = "The key has no webhook URL; nothing was sent."

// TestWebhook sends a signed ping to the key's webhook, once per Idempotency-Key. A repetition returns the stored response.
func (s *Server) TestWebhook(ctx context.Context, _ *webhookv1.TestWebhookRequest) (*webhookv1.TestWebhookResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	// It is called only for a first request: a repetition needs no slot.
	test := func(ctx context.Context) (*webhookv1.TestWebhookResponse, error) {
		if err := caller.RequestErrors(ctx).Err(); err != nil {
			return nil, err
		}
		release, err := s.slots.acquire(principal)
		if err != nil {
			return nil, err
		}
		defer release()
		ctx, cancel := context.WithTimeout(ctx, s.timeout(ctx))
		defer cancel()
		return s.ping(ctx, principal.KeyID)
	}
	return idempotency.RunExternal(ctx, s.deps.Pool, s.cfg.TestTimeout, test)
}

// timeout is the test's timeout, or less if the caller's deadline is earlier.
func (s *Server) timeout(ctx context.Context) time.Duration {
	deadline, set := ctx.Deadline()
	if !set {
		return s.cfg.TestTimeout
	}
	return min(s.cfg.TestTimeout, time.Until(deadline)-replyTime)
}

func (s *Server) ping(ctx context.Context, keyID int32) (*webhookv1.TestWebhookResponse, error) {
	lookedUp := time.Now()
	e, err := s.endpointOf(ctx, keyID)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return unsent(noURL), nil
	case e.GetState() == tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE && e.GetUrl() != "" && e.GetSecret() != "":
		return s.send(ctx, e, lookedUp)
	default:
		// Its secret cannot be decrypted, the tenant's access was switched off since the call was admitted, or a later version of
		// the tenants service has another reason. None of them says anything about the receiver.
		return nil, problem.Unavailable()
	}
}

func (s *Server) send(ctx context.Context, e *tenantsv1.Endpoint, lookedUp time.Time) (*webhookv1.TestWebhookResponse, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make event id: %w", err)
	}
	body, err := restjson.Marshal(&eventsv1.Event{
		Id:          id.String(),
		Type:        "ping",
		OccurredAt:  timestamppb.New(s.deps.Now().UTC().Truncate(time.Microsecond)),
		Environment: s.cfg.Environment,
		Data:        []byte("{}"),
	})
	if err != nil {
		return nil, fmt.Errorf("make ping: %w", err)
	}
	resp := s.deps.Client.Post(ctx, webhookclient.Request{
		URL: e.GetUrl(), Secrets: webhookclient.SecretsOf(e, lookedUp), EventID: id.String(), Body: body,
	})
	return report(resp.Outcome), nil
}

func unsent(why string) *webhookv1.TestWebhookResponse {
	return &webhookv1.TestWebhookResponse{Error: &why}
}

func report(o rules.Outcome) *webhookv1.TestWebhookResponse {
	resp := &webhookv1.TestWebhookResponse{}
	if o.Status != 0 {
		status := int32(o.Status) //nolint:gosec // An HTTP status has three digits.
		resp.ResponseStatus = &status
	}
	if o.Problem != "" {
		resp.Error = &o.Problem
	}
	return resp
}

const (
	// testsPerKey keeps one key from taking all slots of its tenant.
	testsPerKey = 2
	// testRetryAfter is about how long a test takes.
	testRetryAfter = 2 * time.Second
)

// testSlots bounds the tests that run in this process: in total, per tenant and per key.
type testSlots struct {
	total, perTenant int

	guard sync.Mutex
	used  int
	// ofTenant and ofKey count the slots of each tenant and key.
	ofTenant map[string]int
	ofKey    map[int32]int
}

// newTestSlots leaves half of the slots to other tenants.
func newTestSlots(total int) *testSlots {
	return &testSlots{
		total: total, perTenant: max(testsPerKey, total/2), //nolint:mnd // Half.
		ofTenant: map[string]int{}, ofKey: map[int32]int{},
	}
}

// acquire never waits for a slot: the wait would be missing from the time that the receiver has to answer.
func (s *testSlots) acquire(p caller.Principal) (release func(), err error) {
	s.guard.Lock()
	defer s.guard.Unlock()
	switch {
	case s.ofKey[p.KeyID] >= testsPerKey:
		return nil, tooManyTests(testsPerKey, "key")
	case s.ofTenant[p.TenantID] >= s.perTenant:
		return nil, tooManyTests(s.perTenant, "tenant")
	case s.used >= s.total:
		return nil, problem.Unavailable()
	}
	s.add(p, 1)
	return func() {
		s.guard.Lock()
		defer s.guard.Unlock()
		s.add(p, -1)
	}, nil
}

func tooManyTests(n int, of string) error {
	e := problem.New(problem.RateLimited, "%d webhook tests of this %s are still running; try again when one has ended.", n, of)
	e.RetryAfter = testRetryAfter
	return e
}

// add changes the slots in use. The guard is held.
func (s *testSlots) add(p caller.Principal, n int) {
	s.used += n
	if s.ofTenant[p.TenantID] += n; s.ofTenant[p.TenantID] == 0 {
		delete(s.ofTenant, p.TenantID)
	}
	if s.ofKey[p.KeyID] += n; s.ofKey[p.KeyID] == 0 {
		delete(s.ofKey, p.KeyID)
	}
}
