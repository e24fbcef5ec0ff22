package gifting

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
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

// cursors are those that a reader has used, so that a wrong answer is not read without an end.
type cursors map[string]bool

var errCursor = fmt.Errorf("%w: a page has a cursor that was already used", errAnswer)

// add adds a new cursor. One that was used before would read the same pages again.
func (c cursors) add(cursor string) error {
	if c[cursor] {
		return errCursor
	}
	c[cursor] = true
	return nil
}

// List is a list of the API. Nothing is read before it is used, and it can be read again.
type List[T any] struct {
	read  func(after string) (*Page[T], error)
	after string
}

// First reads only the first page. Pass its NextCursor as After of a later call.
func (l List[T]) First() (*Page[T], error) { return l.read(l.after) }

// Pages reads page after page. A page may be empty although others follow. An error ends it.
func (l List[T]) Pages() iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		seen := cursors{l.after: true}
		for after := l.after; ; {
			page, err := l.read(after)
			if !yield(page, err) || err != nil || page.NextCursor == "" {
				return
			}
			after = page.NextCursor
			if err := seen.add(after); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// All reads every item, page after page. An error ends it.
func (l List[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range l.Pages() {
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
		}
	}
}

func list[T any](ctx context.Context, c *Client, path string, query url.Values, options []CallOption) List[T] {
	return List[T]{after: query.Get("after"), read: func(after string) (*Page[T], error) {
		query := maps.Clone(query) // Several may read the list at once.
		if after != "" {
			query.Set("after", after)
		}
		return send[Page[T]](ctx, c, &call{method: http.MethodGet, route: routeTo(path), query: query}, options)
	}}
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
