package reconcile

import (
	"context"
	"log/slog"
	"time"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	pageSize = 2000
	// eventPage is larger, because there are several events for each order.
	eventPage = 10_000
	// checkSize is how many possible differences are read again together.
	checkSize = 1000
)

// Deps are what a run works with.
type Deps struct {
	Store        *store.Store
	Reservations *reservations.Reconciler
	Catalog      catalogv1.OrderingServiceClient
	Links        linksv1.ClaimRecordsServiceClient
	Feed         eventsv1.FeedRecordsServiceClient
	Log          *slog.Logger
}

// Config of a run.
type Config struct {
	// Repair what has one right outcome.
	Repair bool
	// From is the oldest change of an order that is compared with the feed. The zero time is the oldest that the feed has.
	From time.Time
	// PagesPerSecond bounds the rate of reads.
	PagesPerSecond int
}

// run is one run.
type run struct {
	Deps

	cfg    Config
	pace   pacer
	report *Report
}

// Run compares everything and returns the report.
func Run(ctx context.Context, deps Deps, cfg Config) (*Report, error) {
	r := &run{Deps: deps, cfg: cfg, pace: newPacer(cfg.PagesPerSecond), report: &Report{Differences: []Difference{}}}
	defer r.pace.ticker.Stop()
	for _, part := range []func(ctx context.Context) error{r.compareStock, r.compareLinks, r.compareEvents} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// personDecides is why a difference is left that has no one right outcome.
const personDecides = "a person decides"

// add reports a difference. repair says why it left the difference, or returns an empty text; nil means that a person decides.
// An error of one repair does not stop the run.
func (r *run) add(ctx context.Context, d Difference, repair func() (left string, err error)) {
	switch {
	case !r.cfg.Repair:
	case repair == nil:
		d.Left = personDecides
	default:
		left, err := repair()
		if err != nil {
			left = "failed: " + err.Error()
		}
		d.Left, d.Repaired = left, left == ""
		r.Log.InfoContext(ctx, "reconciled a difference", "kind", d.Kind, "tenant_id", d.TenantID, "order_id", d.OrderID,
			"link_id", d.LinkID, "hold_id", d.HoldID, "repaired", d.Repaired, "left", d.Left)
	}
	r.report.Differences = append(r.report.Differences, d)
}

// outdated is why a repair changed nothing.
const outdated = "changed meanwhile: run again"
