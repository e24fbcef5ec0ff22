package gifting

import (
	"context"
	"net/http"
	"time"
)

// overlap is how much of the time before is read again, for changes that became visible late.
const overlap = 5 * time.Minute

// CatalogSync is what a copy of the catalog is a copy of. The API makes both a part of each gift, so a copy for another country or
// locale is another copy.
type CatalogSync struct {
	// Country of delivery, required.
	Country string
	// Locale of names and descriptions. Empty means en-US.
	Locale string
	// Newest is what the sync before returned; the zero time loads the whole catalog.
	Newest time.Time
}

// Sync brings a copy of the catalog up to date. It calls apply with each page, in which a gift is to be replaced, and one that
// is Unlisted to be removed. Show a gift only while it is Available. Store the time that it returns with the copy, and pass it as
// Newest the next time, after some minutes or hours. If it fails, sync again with the Newest of before: entries that come twice are
// harmless. Estimates follow the exchange rates of the day without a change of UpdatedAt: load the whole catalog now and then.
func (c Catalog) Sync(
	ctx context.Context, sync CatalogSync, apply func(context.Context, []ProductEntry) error,
) (newest time.Time, err error) {
	query := ListProductsQuery{Country: sync.Country, Locale: sync.Locale, Paging: Paging{Limit: 100}}
	if !sync.Newest.IsZero() {
		query.UpdatedSince = sync.Newest.Add(-overlap)
	}
	newest = sync.Newest
	var response Response
	var began time.Time
	for page, err := range c.Products(ctx, query, WithResponse(&response)).Pages() {
		if err != nil {
			return sync.Newest, err
		}
		if began.IsZero() {
			began, _ = http.ParseTime(response.Header.Get("Date"))
		}
		for _, entry := range page.Items {
			if entry.UpdatedAt().After(newest) {
				newest = entry.UpdatedAt()
			}
		}
		if err := apply(ctx, page.Items); err != nil {
			return sync.Newest, err
		}
	}
	return notAfter(newest, began), nil
}

// notAfter keeps the next sync from skipping a gift that changed on a page already read, while a long sync went on: later pages may
// have newer changes.
func notAfter(newest, began time.Time) time.Time {
	if !began.IsZero() && newest.After(began) {
		return began
	}
	return newest
}
