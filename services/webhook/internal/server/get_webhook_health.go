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
	endpoint, err := s.endpointOf(ctx, p.KeyID)
	if err != nil {
		return nil, err
	}
	health, err := s.deps.Store.KeyHealth(ctx, store.Endpoint{TenantID: p.TenantID, KeyID: p.KeyID})
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.GetWebhookHealthResponse{
		LastSuccessAt: timestamp(health.LastSuccess), LastError: health.LastError,
		Pending: health.Pending, OldestPendingAt: timestamp(health.OldestPendingAt),
	}
	switch {
	case endpoint == nil:
		resp.State = webhookv1.WebhookState_WEBHOOK_STATE_NONE
	// A state that this version does not know is a pause, as for the sender.
	case endpoint.GetState() != tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE || !s.readable(ctx, p.TenantID, health):
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

// endpointOf looks up the endpoint of a key; nil if it has none.
func (s *Server) endpointOf(ctx context.Context, keyID int32) (*tenantsv1.Endpoint, error) {
	resp, err := s.deps.Directory.GetEndpoints(ctx, &tenantsv1.GetEndpointsRequest{
		KeyIds: []int32{keyID}, Cell: s.cfg.Cell.Wire(),
	})
	if err != nil {
		return nil, fmt.Errorf("get endpoint: %w", err)
	}
	for _, e := range resp.GetEndpoints() {
		if e.GetKeyId() == keyID && e.GetState() != tenantsv1.EndpointState_ENDPOINT_STATE_GONE {
			return e, nil
		}
	}
	return nil, nil //nolint:nilnil // A key without an endpoint is no error.
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
