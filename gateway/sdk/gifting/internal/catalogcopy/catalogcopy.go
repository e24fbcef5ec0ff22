// Package catalogcopy keeps a copy of the catalog in a file.
package catalogcopy

import (
	"context"
	"errors"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// Copy is a copy of the catalog of one country in one locale.
type Copy interface {
	// State is what the file is a copy of; the zero value if it is new.
	State() State
	// Clear empties the copy. Only Commit stores that.
	Clear(ctx context.Context) error
	// Apply changes the copy. Only Commit stores that.
	Apply(ctx context.Context, entries []gifting.ProductEntry) error
	// Commit stores the changes with the state.
	Commit(ctx context.Context, state State) error
	// Count is the number of gifts in the copy.
	Count(ctx context.Context) (int, error)
	Close() error
}

// State is what a file is a copy of.
type State struct {
	Country string    `json:"country"`
	Locale  string    `json:"locale"`
	Newest  time.Time `json:"newest"`
}

// ErrOther is another country or locale than before.
var ErrOther = errors.New("the file is a copy for another country or locale: use another file")

// Result counts what a sync did.
type Result struct {
	Updated  int       `json:"updated"`
	Unlisted int       `json:"unlisted"`
	Products int       `json:"products"`
	Newest   time.Time `json:"newest"`
}

// Sync brings a copy up to date, or with whole reads it all again. Until it has read everything, the file stays as it was.
func Sync(ctx context.Context, client *gifting.Client, to Copy, country, locale string, whole bool) (Result, error) {
	before := to.State()
	if before != (State{}) && (before.Country != country || before.Locale != locale) {
		return Result{}, ErrOther
	}
	sync := gifting.CatalogSync{Country: country, Locale: locale, Newest: before.Newest}
	if whole {
		sync.Newest = time.Time{}
		if err := to.Clear(ctx); err != nil {
			return Result{}, err
		}
	}
	var result Result
	newest, err := client.Catalog.Sync(ctx, sync, func(ctx context.Context, entries []gifting.ProductEntry) error {
		for _, entry := range entries {
			if entry.Product != nil {
				result.Updated++
			} else {
				result.Unlisted++
			}
		}
		return to.Apply(ctx, entries)
	})
	if err != nil {
		return Result{}, err
	}
	if err := to.Commit(ctx, State{Country: country, Locale: locale, Newest: newest}); err != nil {
		return Result{}, err
	}
	result.Newest = newest
	result.Products, err = to.Count(ctx)
	return result, err
}
