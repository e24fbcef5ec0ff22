package gifting

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"strconv"
	"time"
)

// Page is a part of a list. NextCursor is empty on the last.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor"`
}

// Paging chooses a part of a list.
type Paging struct {
	// After is NextCursor of the page before, with the same filters.
	After string
	// Limit is the number of items of a page, 1 to 100. Without it the API chooses.
	Limit int
}

// errSameCursor keeps a wrong answer from being read without an end.
var errSameCursor = fmt.Errorf("%w: a page has its own cursor as that of the next", errAnswer)

// all reads every item of a list, one page after another. An error ends it.
func all[T any](ctx context.Context, c *Client, path string, query url.Values, options []CallOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(query) // The sequence can be read again.
		for {
			page, err := get[Page[T]](ctx, c, path, query, options)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			if page.NextCursor == query.Get("after") {
				var none T
				yield(none, errSameCursor)
				return
			}
			query.Set("after", page.NextCursor)
		}
	}
}

// filters makes the query of names and values. Empty values are left out.
func (p Paging) filters(pairs ...string) url.Values {
	query := url.Values{}
	pairs = append(pairs, "after", p.After)
	if p.Limit != 0 {
		pairs = append(pairs, "limit", strconv.Itoa(p.Limit))
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

// instant writes a time as the API reads it, and the zero time as nothing.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// list reads a list that has no pages.
func list[T any](ctx context.Context, c *Client, path string, query url.Values, options []CallOption) ([]T, error) {
	items, err := get[[]T](ctx, c, path, query, options)
	if err != nil {
		return nil, err
	}
	return *items, nil
}
