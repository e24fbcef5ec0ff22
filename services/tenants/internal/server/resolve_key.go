package server

import (
	"context"
	"crypto/sha256"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ResolveKey returns the principal of a key by its hash.
func (d *directory) ResolveKey(ctx context.Context, req *tenantsv1.ResolveKeyRequest) (*tenantsv1.ResolveKeyResponse, error) {
	if len(req.GetKeyHash()) != sha256.Size {
		return nil, invalid("keyHash", problem.FieldInvalid, "must be a SHA-256 digest")
	}
	principal, err := d.store.Resolve(ctx, req.GetKeyHash())
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.ResolveKeyResponse{Principal: principal.Proto()}, nil
}
