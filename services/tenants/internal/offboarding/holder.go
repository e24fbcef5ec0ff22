package offboarding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// callTimeout is longer than a count of a large tenant takes.
const callTimeout = 90 * time.Second

// Holder is a service that stores data of tenants.
type Holder struct {
	Name identity.Name
	Data privacyv1.TenantDataServiceClient
}

func (h Holder) count(ctx context.Context, of tenants.Tenant) (*privacyv1.CountTenantResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	counted, err := h.Data.CountTenant(ctx, &privacyv1.CountTenantRequest{TenantId: of.ID, KeyIds: of.KeyIDs})
	if err != nil {
		return nil, fmt.Errorf("count in %s: %w", h.Name, err)
	}
	return counted, nil
}

// errNeverEmpty ends an erasure that is as slow as the writers. The next attempt continues it.
var errNeverEmpty = errors.New("rows are still being written")

// maxBatches bounds an attempt, of a thousand rows each.
const maxBatches = 100_000

func (h Holder) erase(ctx context.Context, of tenants.Tenant) error {
	for range maxBatches {
		done, err := h.eraseBatch(ctx, of)
		if err != nil {
			return fmt.Errorf("erase in %s: %w", h.Name, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("erase in %s: %w", h.Name, errNeverEmpty)
}

func (h Holder) eraseBatch(ctx context.Context, of tenants.Tenant) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	erased, err := h.Data.EraseTenant(ctx, &privacyv1.EraseTenantRequest{TenantId: of.ID, KeyIds: of.KeyIDs})
	return erased.GetDone(), err
}

// left is how many rows are left that have to be erased.
func left(tables []*privacyv1.TableRows) (n int64) {
	for _, t := range tables {
		if t.GetKept() == "" {
			n += t.GetRows()
		}
	}
	return n
}
