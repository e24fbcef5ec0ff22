package fanout

import (
	"context"
	"slices"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// Redriven is the result of a redrive.
type Redriven struct {
	// Events were read from the feed.
	Events int `json:"events"`
	// Missing events have receivers and had no deliveries, or none for the key. They have them now unless it was a dry run.
	Missing    int `json:"missing"`
	Deliveries int `json:"deliveries"`
	// Invalid events cannot be sent.
	Invalid int `json:"invalid"`
}

// Redrive stores the deliveries of events of the feed that have none, or only counts them. The keys are those that receive the
// events now. With a key other than 0, it looks only at events that the key receives, and adds its deliveries to events that other
// keys have got. An event without any deliveries gets those of all its keys: the fan-out passes over events that are stored.
func (f *FanOut) Redrive(ctx context.Context, list []*eventsv1.Change, key int32, dryRun bool) (Redriven, error) {
	done := Redriven{Events: len(list)}
	var changes []change
	for _, c := range list {
		valid, err := enclose(c, f.cfg.Environment)
		if err != nil {
			done.Invalid++
			continue
		}
		changes = append(changes, valid)
	}
	found, err := f.subscriptions.endpointsOf(ctx, changes)
	if err != nil {
		return done, err
	}
	events := eventsOf(changes, found)
	if key != 0 {
		events = slices.DeleteFunc(events, func(e store.Event) bool { return !slices.Contains(e.KeyIDs, key) })
	}
	missing, err := f.store.Missing(ctx, events, key)
	if err != nil {
		return done, err
	}
	for _, e := range missing {
		done.Missing, done.Deliveries = done.Missing+1, done.Deliveries+len(e.KeyIDs)
	}
	if len(missing) > 0 && !dryRun {
		_, err = f.store.FanOut(ctx, key, missing)
	}
	return done, err
}
