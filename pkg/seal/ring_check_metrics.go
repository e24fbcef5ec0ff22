package seal

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// observe registers the metrics. Their series exist before anything is wrong.
func (c *RingCheck) observe() error {
	meter := c.tel.Meters.Meter("github.com/partnergifting/platform/pkg/seal")
	_, err := meter.Int64ObservableGauge("gifting.seal.keys.unusable",
		metric.WithDescription("Keys that sealed values of a column and that the ring lacks (missing) or has with other bytes (wrong)."),
		metric.WithInt64Callback(c.reportUnusable))
	if err != nil {
		return err
	}
	_, err = meter.Int64ObservableGauge("gifting.seal.keys.in_use",
		metric.WithDescription("1 for each key that sealed values of a column. A key without a series is not needed by the database."),
		metric.WithInt64Callback(c.reportUses))
	if err != nil {
		return err
	}
	for _, ring := range c.rings {
		if ring.counted {
			if err := count(meter, ring.keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// count lets the ring count the values that it cannot open.
func count(meter metric.Meter, ring *Ring) error {
	unreadable, err := meter.Int64Counter("gifting.seal.unreadable",
		metric.WithDescription("Attempts to open a sealed value that failed: "+
			"its key is not in the ring (missing_key), or the key does not open it (broken)."))
	if err != nil {
		return err
	}
	causes := map[bool]metric.MeasurementOption{
		true:  metric.WithAttributes(attribute.String("cause", "missing_key")),
		false: metric.WithAttributes(attribute.String("cause", "broken")),
	}
	for _, cause := range causes {
		unreadable.Add(context.Background(), 0, cause)
	}
	ring.OnUnreadable(func(err error) {
		unreadable.Add(context.Background(), 1, causes[errors.Is(err, ErrNoKey)])
	})
	return nil
}

func (c *RingCheck) reportUnusable(_ context.Context, out metric.Int64Observer) error {
	type series struct{ column, reason string }
	counts := map[series]int64{}
	found := c.current()
	for _, ring := range c.rings {
		for _, values := range ring.values {
			if found.complete {
				counts[series{values.Name(), "missing"}], counts[series{values.Name(), "wrong"}] = 0, 0
			}
		}
	}
	for _, p := range found.unusable {
		reason := "wrong"
		if errors.Is(p.reason, ErrKeyMissing) {
			reason = "missing"
		}
		counts[series{p.column, reason}]++
	}
	for s, n := range counts {
		out.Observe(n, metric.WithAttributes(attribute.String("column", s.column), attribute.String("reason", s.reason)))
	}
	return nil
}

func (c *RingCheck) reportUses(_ context.Context, out metric.Int64Observer) error {
	for _, use := range c.current().uses {
		out.Observe(1, metric.WithAttributes(attribute.String("column", use.column), attribute.String("key_id", use.keyID)))
	}
	return nil
}
