package store

import "time"

// parts are what a page is read from, one behind the other until it is full.
//
// What was placed since some time has changed since, and comes before all that was placed earlier. An index gives it in
// order, whereas all that changed has to be gathered, however much it is, to tell which of it was placed last. So it is
// read by itself, and the rest only for a page it does not fill. Among what something else is asked of besides, it would
// hardly ever fill one.
func (f Filter) parts() []Filter {
	if f.UpdatedSince == nil || f.BrandID != nil || f.Status != nil || f.ExternalOrderID != nil || f.ExternalRecipientID != nil {
		return []Filter{f}
	}
	placed, before := f, f
	placed.UpdatedSince, placed.placedSince = nil, f.UpdatedSince
	before.placedBefore = f.UpdatedSince
	// The database keeps microseconds.
	if f.After != nil && f.After.Time.Before(f.UpdatedSince.Truncate(time.Microsecond)) {
		return []Filter{before}
	}
	return []Filter{placed, before}
}
