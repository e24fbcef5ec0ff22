// Package caller says on whose behalf a call runs and what the edge knows of its HTTP request.
//
// The gateway authenticates an API key and sends the principal and the request as binary gRPC metadata. A service reads them
// from its context. Package rpc accepts them only from the gateway.
package caller

import (
	"cmp"
	"context"
	"slices"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Principal is the API key a public call acts for.
type Principal struct {
	TenantID string
	KeyID    int32
	KeyName  string
	Scopes   []commonv1.Scope
	// AllBrands false limits the key to BrandIDs, which may be empty.
	AllBrands bool
	BrandIDs  []string
	// TenantVersion is the version of the tenant's settings the edge saw with this request.
	TenantVersion int64
	// Cell is the letter of the cell that holds the tenant's records.
	Cell string
	// Moving means that the tenant is about to change its cell: the next request must not use a copy of the principal.
	Moving bool
}

// Reaches reports whether the key may see records of the brand.
func (p Principal) Reaches(brandID string) bool {
	return p.AllBrands || slices.Contains(p.BrandIDs, brandID)
}

// HasScope reports whether the key has the scope.
func (p Principal) HasScope(s commonv1.Scope) bool {
	return slices.Contains(p.Scopes, s)
}

// SeesEvent reports whether the key may see an event of its tenant that needs the scope. hiddenFrom is the key that it is hidden
// from; 0: none.
func (p Principal) SeesEvent(needs commonv1.Scope, brandID string, hiddenFrom int32) bool {
	return p.HasScope(needs) && p.Reaches(brandID) && p.KeyID != hiddenFrom
}

type principalKey struct{}

// WithPrincipal returns a context whose calls act for p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal of a public call, and an error if there is none.
func PrincipalFrom(ctx context.Context) (Principal, error) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	if !ok {
		return Principal{}, problem.New(problem.InvalidAPIKey, "The call carries no authenticated API key.")
	}
	return p, nil
}

// FromProto reads the wire form.
func FromProto(p *commonv1.Principal) Principal {
	return Principal{
		TenantID:      p.GetTenantId(),
		KeyID:         p.GetKeyId(),
		KeyName:       p.GetKeyName(),
		Scopes:        p.GetScopes(),
		AllBrands:     p.GetAllBrands(),
		BrandIDs:      p.GetBrandIds(),
		TenantVersion: p.GetTenantVersion(),
		Cell:          cmp.Or(p.GetCell(), identity.HomeCell),
		Moving:        p.GetMoving(),
	}
}

// Proto is the wire form.
func (p Principal) Proto() *commonv1.Principal {
	return &commonv1.Principal{
		TenantId:      p.TenantID,
		KeyId:         p.KeyID,
		KeyName:       p.KeyName,
		Scopes:        p.Scopes,
		AllBrands:     p.AllBrands,
		BrandIds:      p.BrandIDs,
		TenantVersion: p.TenantVersion,
		Cell:          identity.Cell{Letter: p.Cell}.Wire(),
		Moving:        p.Moving,
	}
}
