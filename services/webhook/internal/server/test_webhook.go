package server

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/restjson"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// answerTime is what a test leaves of the caller's deadline, so that a receiver that does not
// answer gives an answer all the same.
const answerTime = 500 * time.Millisecond

const (
	noURL     = "The key has no webhook URL; nothing was sent."
	accessOff = "API access is switched off for the tenant; nothing was sent."
)

// TestWebhook sends a signed ping to the key's webhook now. It is sent once per Idempotency-Key;
// a repetition gets the stored answer.
func (s *Server) TestWebhook(ctx context.Context, _ *webhookv1.TestWebhookRequest) (*webhookv1.TestWebhookResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	// A repetition gets its answer also while every place is taken.
	if answer, found, err := idempotency.Replay(ctx, s.cfg.Pool, empty); found || err != nil {
		return answer, err
	}
	if err := fields.FromContext(ctx).Err(); err != nil {
		return nil, err
	}
	leave, err := s.places.enter(ctx, principal.KeyID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return idempotency.RunExternal(ctx, s.cfg.Pool, empty, func(ctx context.Context) (*webhookv1.TestWebhookResponse, error) {
		ctx, cancel := context.WithTimeout(ctx, s.timeout(ctx))
		defer cancel()
		return s.ping(ctx, principal.KeyID)
	})
}

func empty() *webhookv1.TestWebhookResponse { return &webhookv1.TestWebhookResponse{} }

// timeout is the test's own, or less when the caller waits less long.
func (s *Server) timeout(ctx context.Context) time.Duration {
	deadline, set := ctx.Deadline()
	if !set {
		return s.cfg.TestTimeout
	}
	return min(s.cfg.TestTimeout, time.Until(deadline)-answerTime)
}

func (s *Server) ping(ctx context.Context, keyID int32) (*webhookv1.TestWebhookResponse, error) {
	resp, err := s.cfg.Directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: []int32{keyID}})
	if err != nil {
		return nil, fmt.Errorf("get endpoint: %w", err)
	}
	for _, e := range resp.GetEndpoints() {
		switch {
		case e.GetKeyId() != keyID:
		case e.GetState() == tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED:
			return unsent(accessOff), nil
		case e.GetState() == tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE && e.GetUrl() != "":
			return s.send(ctx, e)
		}
	}
	return unsent(noURL), nil
}

func (s *Server) send(ctx context.Context, e *tenantsv1.Endpoint) (*webhookv1.TestWebhookResponse, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make event id: %w", err)
	}
	body, err := restjson.Marshal(&eventsv1.Event{
		Id:          id.String(),
		Type:        "ping",
		OccurredAt:  timestamppb.New(s.cfg.Now().UTC().Truncate(time.Microsecond)),
		Environment: s.cfg.Environment,
		Data:        []byte("{}"),
	})
	if err != nil {
		return nil, fmt.Errorf("make ping: %w", err)
	}
	answer := s.cfg.Poster.Post(ctx, post.Request{URL: e.GetUrl(), Secret: e.GetSecret(), EventID: id.String(), Body: body})
	return told(answer.Outcome), nil
}

func unsent(why string) *webhookv1.TestWebhookResponse {
	return &webhookv1.TestWebhookResponse{Error: &why}
}

func told(o rules.Outcome) *webhookv1.TestWebhookResponse {
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
