package server

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/seal"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// GetWebhookHealth returns whether the webhook of the calling key works. It is read from the log and the endpoint, so every
// instance returns the same.
func (s *Server) GetWebhookHealth(
	ctx context.Context, _ *webhookv1.GetWebhookHealthRequest,
) (*webhookv1.GetWebhookHealthResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	if err := caller.RequestErrors(ctx).Err(); err != nil {
		return nil, err
	}
	endpoint := store.Endpoint{TenantID: p.TenantID, KeyID: p.KeyID}
	state, err := s.endpointState(ctx, p.KeyID)
	if err != nil {
		return nil, err
	}
	health, err := s.deps.Store.KeyHealth(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.GetWebhookHealthResponse{
		LastSuccessAt: timestamp(health.LastSuccess), LastError: health.LastError,
		Pending: health.Pending, OldestPendingAt: timestamp(health.OldestPendingAt),
	}
	switch {
	case state == tenantsv1.EndpointState_ENDPOINT_STATE_GONE:
		resp.State = webhookv1.WebhookState_WEBHOOK_STATE_NONE
	case state == tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED || !s.readable(ctx, p.TenantID, health):
		resp.State = webhookv1.WebhookState_WEBHOOK_STATE_PAUSED
	case health.FailingSince != nil:
		resp.State, resp.FailingSince = webhookv1.WebhookState_WEBHOOK_STATE_FAILING, timestamp(health.FailingSince)
	case health.Stalled:
		resp.State = webhookv1.WebhookState_WEBHOOK_STATE_PAUSED
	default:
		resp.State = webhookv1.WebhookState_WEBHOOK_STATE_HEALTHY
	}
	return resp, nil
}

// endpointState treats a state that this version does not know as a pause, as the sender does.
func (s *Server) endpointState(ctx context.Context, keyID int32) (tenantsv1.EndpointState, error) {
	resp, err := s.deps.Directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{KeyIds: []int32{keyID}})
	if err != nil {
		return 0, fmt.Errorf("get endpoint: %w", err)
	}
	for _, e := range resp.GetEndpoints() {
		switch e.GetState() {
		case tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, tenantsv1.EndpointState_ENDPOINT_STATE_GONE:
			return e.GetState(), nil
		case tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, tenantsv1.EndpointState_ENDPOINT_STATE_UNSPECIFIED:
			return tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, nil
		default:
			return tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, nil
		}
	}
	return tenantsv1.EndpointState_ENDPOINT_STATE_GONE, nil
}

// readable reports whether the event that has waited longest for its first attempt can be opened. One that cannot waits, without
// an attempt.
func (s *Server) readable(ctx context.Context, tenantID string, health store.KeyHealth) bool {
	if health.Untried == "" {
		return true
	}
	_, err := s.deps.Reader.Open(ctx, seal.EventRef{TenantID: tenantID, EventID: health.Untried}, health.UntriedBody)
	return err == nil
}
