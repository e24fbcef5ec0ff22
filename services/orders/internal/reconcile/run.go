package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
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
	// checkSize is how many possible differences are read again at once.
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
	// Repair enables the repair of differences that have only one right outcome.
	Repair bool
	// All skips checkShare: differences are repaired even if there are so many that a database may be the wrong one.
	All bool
	// From is the oldest change of an order that is compared with the feed. What the feed no longer keeps is never compared.
	From time.Time
	// PagesPerSecond bounds the rate of reads.
	PagesPerSecond int
	// Terminal shows the progress of a run without repairs; nil: no progress is shown. Repairs are logged to the same terminal, so a
	// run with repairs shows no progress.
	Terminal io.Writer
}

// run is one comparison of everything.
type run struct {
	Deps

	cfg    Config
	pace   pacer
	report *Report
}

// Run compares everything and returns the report. With an error, the report has what was found and repaired until then.
//
// Unless cfg.All is set, it compares everything once without repairs, for checkShare, before it repairs anything.
func Run(ctx context.Context, deps Deps, cfg Config) (*Report, error) {
	if cfg.Repair && !cfg.All {
		dryRun := cfg
		dryRun.Repair = false
		found, err := compare(ctx, deps, dryRun)
		if err == nil {
			err = found.checkShare()
		}
		if err != nil {
			return found, err
		}
	}
	return compare(ctx, deps, cfg)
}

func compare(ctx context.Context, deps Deps, cfg Config) (*Report, error) {
	var bar *daemon.ProgressBar
	if cfg.Terminal != nil && !cfg.Repair {
		bar = daemon.NewProgressBar(cfg.Terminal, "records read", 0)
		defer bar.End()
	}
	r := &run{Deps: deps, cfg: cfg, pace: newPacer(cfg.PagesPerSecond, bar), report: &Report{Differences: []Difference{}}}
	defer r.pace.ticker.Stop()
	for _, part := range []func(ctx context.Context) error{r.compareStock, r.compareLinks, r.compareEvents} {
		if err := part(ctx); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// repairLimits are limits for the differences of one kind. A restore loses little. If there are more differences than the number
// and the share of one of the limits, a database is empty or the wrong one.
var repairLimits = []struct {
	differences int
	share       float64
}{{1000, 0.05}, {500, 0.5}}

// ErrManyDifferences means that nothing is repaired, because a database may be the wrong one.
var ErrManyDifferences = errors.New("nothing was repaired: is every database the right one? If so, repair with --all")

// checkShare refuses repairs if there are too many differences of one kind, or several while one side has no records at all.
func (r *Report) checkShare() error {
	c := r.Compared
	for _, side := range []struct {
		kind            Kind
		has, shouldHave int
	}{
		{StockHeld, c.Holds, c.Reservations},
		{StockNotHeld, c.Reservations, c.Holds},
		{LinkNotClaimed, c.ClaimedLinks, c.LinkOrders},
		{LinkOtherOrder, c.ClaimedLinks, c.LinkOrders},
		{EventMissing, c.Events, c.Orders},
	} {
		found := r.count(side.kind)
		refused := found > 1 && side.has == 0
		for _, limit := range repairLimits {
			refused = refused || found > limit.differences && float64(found) > limit.share*float64(side.shouldHave)
		}
		if refused {
			return fmt.Errorf("%w (%s: %d of %d)", ErrManyDifferences, side.kind, found, side.shouldHave)
		}
	}
	return nil
}

// personDecides is why a difference that has more than one right outcome is not repaired.
const personDecides = "a person decides"

// add reports a difference and repairs it if the run repairs. repair returns why it did not repair it, or an empty text. A nil
// repair means that a person decides. An error of one repair does not stop the run.
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

// outdated is why a repair changed nothing: the records have changed since they were compared.
const outdated = "changed meanwhile: run again"
