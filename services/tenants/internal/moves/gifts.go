package moves

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// copyInterval is how often the copies of the gifts are looked after.
const copyInterval = 15 * time.Second

// gifts is the publication of what all tenants share in the catalog of the first cell. The other cells have copies.
const gifts = "gifting_catalog"

// sharedTables are in the order in which rows refer to each other; an apply worker checks no references.
const sharedTables = `regions, region_countries, exchange_rates, categories, subcategories, images, image_renditions, products,
  product_prices`

// giftsSlot is the name of the slot and the subscription of a cell.
func giftsSlot(cell string) string { return gifts + "_" + cell }

// KeepGifts makes the copies of the gifts that cells lack. A cell without a URL is left out.
func (m *Mover) KeepGifts(ctx context.Context) error {
	others, err := m.deps.Store.OtherCells(ctx)
	for _, cell := range others {
		if m.deps.Databases.url(cell.GetLetter(), catalogDB) == "" {
			continue
		}
		if failed := m.keepGifts(ctx, cell.GetLetter()); failed != nil {
			err = errors.Join(err, fmt.Errorf("gifts of cell %s: %w", cell.GetLetter(), failed))
		}
	}
	return err
}

func (m *Mover) keepGifts(ctx context.Context, cell string) error {
	home, err := m.database(ctx, identity.HomeCell)
	if err != nil {
		return err
	}
	defer func() { _ = home.Close(context.WithoutCancel(ctx)) }()
	copied, err := m.database(ctx, cell)
	if err != nil {
		return err
	}
	defer func() { _ = copied.Close(context.WithoutCancel(ctx)) }()
	subscribed, err := value[bool](ctx, copied, selectSubscription, giftsSlot(cell))
	if err != nil || subscribed {
		return err
	}
	published, err := value[bool](ctx, home, selectPublication, gifts)
	if err == nil && !published {
		err = home.run(ctx, "publish gifts", "CREATE PUBLICATION "+gifts+" FOR TABLE "+sharedTables)
	}
	if err != nil {
		return err
	}
	slot, err := value[bool](ctx, home, selectSlot, giftsSlot(cell))
	if err == nil && !slot {
		err = home.run(ctx, "create slot", createSlot, giftsSlot(cell))
	}
	if err != nil {
		return err
	}
	url := strings.ReplaceAll(m.deps.Databases.url(identity.HomeCell, catalogDB), "'", "''")
	return copied.run(ctx, "subscribe to gifts", "CREATE SUBSCRIPTION "+giftsSlot(cell)+" CONNECTION '"+url+"' PUBLICATION "+gifts+
		" WITH (create_slot = false, slot_name = '"+giftsSlot(cell)+"')")
}

// hasGifts returns an *UnreadyError if the cell has no complete copy of the gifts.
func hasGifts(ctx context.Context, d *database, cell string) error {
	copied, err := value[bool](ctx, d, `SELECT count(*) > 0 AND count(*) = count(*) FILTER (WHERE r.srsubstate = 'r')
FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid WHERE s.subname = $1`, giftsSlot(cell))
	if err == nil && !copied {
		err = unready("cell %s has no complete copy of the gifts yet", cell)
	}
	return err
}

// AwaitGifts makes the copy of the gifts of a cell, and returns an *UnreadyError if it is not complete after some seconds.
func (m *Mover) AwaitGifts(ctx context.Context, cell string) error {
	if m.deps.Databases.url(cell, catalogDB) == "" || m.deps.Databases.url(identity.HomeCell, catalogDB) == "" {
		return unready("GIFTING_CELL_DATABASES has no URL of the catalog of cell %s or of the first one", cell)
	}
	if err := m.keepGifts(ctx, cell); err != nil {
		return err
	}
	d, err := m.database(ctx, cell)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close(context.WithoutCancel(ctx)) }()
	for until := time.Now().Add(giftsTime); ; {
		err := hasGifts(ctx, d, cell)
		if err == nil || time.Now().After(until) {
			return err
		}
		if err := sleep(ctx); err != nil {
			return err
		}
	}
}

// giftsTime is shorter than a call of an operator takes at most.
const giftsTime = 10 * time.Second

func (m *Mover) database(ctx context.Context, cell string) (*database, error) {
	conn, err := m.deps.Databases.open(ctx, cell, catalogDB)
	return &database{Conn: conn, name: catalogDB, cell: cell}, err
}

// observe makes the metrics of moves and cells. They are of the database, so every instance reports the same.
func (m *Mover) observe(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants")
	oldest := telemetry.NewSample(m.deps.Store.OldestMove, time.Now, tel.Logger)
	lags := telemetry.NewSample(m.giftLags, time.Now, tel.Logger)
	cells := telemetry.NewSample(m.deps.Store.Cells, time.Now, tel.Logger)
	_, err := meter.Float64ObservableGauge("gifting.moves.oldest_age",
		metric.WithUnit("s"), metric.WithDescription("How long ago the oldest move of a tenant that has not ended was requested."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			if age, ok := oldest.Get(ctx); ok {
				o.Observe(age.Seconds())
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("metric of moves: %w", err)
	}
	_, err = meter.Int64ObservableGauge("gifting.cells.gifts_lag", metric.WithUnit("By"),
		metric.WithDescription("How far the gifts of a cell are behind those of the first one, in bytes of its log."),
		metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
			behind, _ := lags.Get(ctx)
			for cell, lag := range behind {
				o.Observe(lag, metric.WithAttributes(attribute.String("cell", cell)))
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("metric of gifts: %w", err)
	}
	_, err = meter.Float64ObservableGauge("gifting.cells.filled",
		metric.WithDescription("Share of the room of an open cell that its tenants take; a cell without a limit has none."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			known, _ := cells.Get(ctx)
			for _, cell := range known {
				if cell.GetOpen() && cell.GetRoom() > 0 {
					o.Observe(float64(cell.GetTenants())/float64(cell.GetRoom()),
						metric.WithAttributes(attribute.String("cell", cell.GetCell().GetLetter())))
				}
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("metric of cells: %w", err)
	}
	return nil
}

// giftLags returns how far the copies of the gifts are behind, by the letters of their cells.
func (m *Mover) giftLags(ctx context.Context) (map[string]int64, error) {
	if len(m.deps.Databases) == 0 {
		return nil, nil //nolint:nilnil // There are no copies.
	}
	home, err := m.database(ctx, identity.HomeCell)
	if err != nil {
		return nil, err
	}
	defer func() { _ = home.Close(context.WithoutCancel(ctx)) }()
	others, err := m.deps.Store.OtherCells(ctx)
	lags := map[string]int64{}
	for _, cell := range others {
		if err == nil {
			lags[cell.GetLetter()], err = value[int64](ctx, home, selectLag, giftsSlot(cell.GetLetter()))
		}
	}
	return lags, err
}
