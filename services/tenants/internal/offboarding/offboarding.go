// Package offboarding erases tenants whose grace period is over, and proves it.
//
// A tenant is disabled when the off-boarding is requested. The erasure begins when the grace period is over by the retention clock
// and nothing of the tenant is in flight anywhere. First all services count, then all erase, the tenant's own settings last, and
// then all count again until nothing is found. Every step is recorded before the next begins and may be repeated, so any instance
// continues after a crash, and two may work at once. Rows can come back from a restored database or from Kafka. So every erased
// tenant is counted again each hour, for ever, and what came back is erased again.
package offboarding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

const (
	// countTimeout is longer than the statements of tenants.Database.Count take, which may read a billion rows.
	countTimeout = 15 * time.Minute
	// eraseTimeout bounds a batch.
	eraseTimeout = 90 * time.Second
)

// Holder is a service that stores data of tenants, in one cell.
type Holder struct {
	Name identity.Name
	// Cell is its letter; empty: the first cell.
	Cell string
	Data privacyv1.TenantDataServiceClient
}

// String is how reports name the holder.
func (h Holder) String() string {
	if h.Cell == "" || h.Cell == identity.HomeCell {
		return string(h.Name)
	}
	return string(h.Name) + " in cell " + h.Cell
}

func (h Holder) count(ctx context.Context, tenant tenants.Tenant) (*privacyv1.CountTenantResponse, error) {
	ctx, cancel := context.WithTimeout(caller.InCell(ctx, h.Cell), countTimeout)
	defer cancel()
	counted, err := h.Data.CountTenant(ctx, &privacyv1.CountTenantRequest{TenantId: tenant.ID, KeyIds: tenant.KeyIDs})
	if err != nil {
		return nil, fmt.Errorf("count in %s: %w", h, err)
	}
	return counted, nil
}

// errNeverEmpty ends an erasure that is as slow as the writers. The next attempt continues it.
var errNeverEmpty = errors.New("rows are still being written")

// maxBatches, of a thousand rows each, bounds an attempt.
const maxBatches = 100_000

func (h Holder) erase(ctx context.Context, tenant tenants.Tenant) error {
	for range maxBatches {
		done, err := h.eraseBatch(ctx, tenant)
		if err != nil {
			return fmt.Errorf("erase in %s: %w", h, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("erase in %s: %w", h, errNeverEmpty)
}

func (h Holder) eraseBatch(ctx context.Context, tenant tenants.Tenant) (bool, error) {
	ctx, cancel := context.WithTimeout(caller.InCell(ctx, h.Cell), eraseTimeout)
	defer cancel()
	erased, err := h.Data.EraseTenant(ctx, &privacyv1.EraseTenantRequest{TenantId: tenant.ID, KeyIds: tenant.KeyIDs})
	return erased.GetDone(), err
}

// rowsLeft is how many rows are left that have to be erased.
func rowsLeft(tables []*privacyv1.TableRows) (n int64) {
	for _, t := range tables {
		if t.GetKept() == "" {
			n += t.GetRows()
		}
	}
	return n
}

// New makes a worker. Its metric says for how long the erasure that is due longest has waited, or an erased tenant has not been
// checked.
func New(deps Deps, tel *telemetry.Telemetry) (*Worker, error) {
	overdue := telemetry.NewSample(deps.Store.OverdueErasure, time.Now, tel.Logger)
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants")
	_, err := meter.Float64ObservableGauge("gifting.offboardings.overdue_age",
		metric.WithUnit("s"), metric.WithDescription("How long the erasure of a tenant that is due longest has waited."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			if age, ok := overdue.Get(ctx); ok {
				o.Observe(age.Seconds())
			}
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of off-boardings: %w", err)
	}
	return &Worker{deps: deps}, nil
}

// Part is the periodic work.
func (w *Worker) Part(clock *daemon.RetentionClock, tel *telemetry.Telemetry) daemon.Part {
	return clock.Every("offboardings", Interval, tel, w.Work)
}
