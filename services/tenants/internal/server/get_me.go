package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// GetMe gives the calling key, its tenant's current settings and the environment. The edge may have
// let the key in a moment before it was revoked or access was switched off; here it is refused.
func (p *Public) GetMe(ctx context.Context, _ *tenantsv1.GetMeRequest) (*tenantsv1.GetMeResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	tenant, key, err := p.store.Me(ctx, principal.TenantID, principal.KeyID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.New(problem.InvalidAPIKey, "The API key is not valid.")
	}
	if err != nil {
		return nil, err
	}
	return &tenantsv1.GetMeResponse{Tenant: tenant, Key: key.Proto(), Environment: string(p.environment)}, nil
}
