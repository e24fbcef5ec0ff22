package server

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// Operations is the operations plane: it sets up tenants and their keys. Every change is published
// to the edges after its commit; so is a call that found nothing to change, which heals a
// publication that failed before.
type Operations struct {
	tenantsv1.UnimplementedTenantOperationsServiceServer

	store       *store.Store
	versions    *versions.Publisher
	ring        *seal.Ring
	environment apikey.Environment
	loopback    bool
	now         func() time.Time
}

// Settings of the operations plane.
type Settings struct {
	// Environment is the one that new keys belong to.
	Environment apikey.Environment
	// LoopbackWebhooks takes plain http URLs to this machine too.
	LoopbackWebhooks bool
	Now              func() time.Time
}

// NewOperations makes the operations plane.
func NewOperations(s *store.Store, v *versions.Publisher, ring *seal.Ring, set Settings) *Operations {
	return &Operations{
		store: s, versions: v, ring: ring,
		environment: set.Environment, loopback: set.LoopbackWebhooks, now: set.Now,
	}
}

// sealSecret seals a signing secret for the key it belongs to.
func (o *Operations) sealSecret(keyID int32, secret string) []byte {
	return o.ring.Seal([]byte(secret), rules.SecretPlace(keyID))
}

// refused turns what the store refuses into the problem it stands for.
func refused(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return problem.RecordNotFound()
	case errors.Is(err, store.ErrSlugTaken):
		return invalid("brand.slug", problem.FieldDuplicate, "belongs to another brand of the tenant")
	case errors.Is(err, store.ErrEmailTaken):
		return invalid("member.email", problem.FieldDuplicate, "belongs to another member of the team")
	case errors.Is(err, store.ErrTypeFixed):
		return invalid("field.type", problem.FieldInvalid, "cannot be changed once the field exists")
	default:
		return err
	}
}

func invalid(field, code, message string) error {
	return problem.Invalid(problem.Violation{Field: field, Code: code, Message: message})
}

// unknownBrands names every place of the request where a brand stands that the tenant does not have.
func unknownBrands(sent []string, unknown *store.UnknownBrandError) error {
	var errs fields.Errors
	for i, id := range sent {
		if lower, _ := fields.ParseUUID(id); slices.Contains(unknown.IDs, lower) {
			errs.Add(fmt.Sprintf("brandIds[%d]", i), problem.FieldInvalid, "must be a brand of the tenant")
		}
	}
	return errs.Err()
}
