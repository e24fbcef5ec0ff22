package store

import "time"

// parts are the statements a page is read by, one after the other until it is full.
//
// Orders placed since an instant also changed since then, and a list shows them before all earlier
// ones. An index has them in order. The earlier ones that changed since then must all be collected to
// find the newest of them, so they are read only for a page that the first part does not fill. With a
// further filter the first part would hardly ever fill a page, so there is one statement only.
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
