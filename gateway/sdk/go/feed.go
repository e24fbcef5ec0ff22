package gifting

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// EventPage is a page of the feed.
type EventPage struct {
	Page[Event]

	// AtEnd says that no event follows yet. A page may be short, or empty, and not be the last.
	AtEnd bool `json:"-"`
}

// MaxWait is how long the API holds a call of the feed at most.
const MaxWait = 30 * time.Second

// ListEventsQuery chooses a part of the feed. Without After it begins with the oldest event, 30 days ago.
type ListEventsQuery struct {
	Paging

	// Wait is how long the API may hold the call until there is an event, in whole seconds up to MaxWait.
	Wait time.Duration
}

// ListEvents reads a page of the feed, in commit order.
func (c *Client) ListEvents(ctx context.Context, query ListEventsQuery, options ...CallOption) (*EventPage, error) {
	seconds := int(query.Wait / time.Second)
	values := query.filters()
	if seconds > 0 {
		values.Set("wait", strconv.Itoa(seconds))
	}
	page := &EventPage{}
	made := &call{method: http.MethodGet, path: "/events", query: values, header: http.Header{}, wait: time.Duration(seconds) * time.Second}
	if err := c.do(ctx, made, page, options); err != nil {
		return nil, err
	}
	if page.NextCursor == "" {
		page.NextCursor = query.After
	}
	return page, nil
}

// ErrEventsLost is what the feed answers to a cursor whose next events are no longer kept, or that it does not know: read all
// your records again, then read the feed without a cursor.
var ErrEventsLost = errors.New("the feed does not go on from this cursor: read all records again, then the feed from its beginning")

// Feed is how [Client.Feed] reads.
type Feed struct {
	// After is the NextCursor that you stored with what you had processed. Empty means from the oldest event on.
	After string
	// Limit is the number of events of a page, 1 to 100. Without it the API chooses.
	Limit int
	// Wait is how long one call may wait for an event; MaxWait without it. Proxies in between must allow it.
	Wait time.Duration
	// Retrying is called when the feed cannot be read for now, before it is tried again. It may be nil.
	Retrying func(error)
}

// Feed reads the feed without an end: each page that has events, or whose cursor has moved, as soon as there is one. Handle its
// events and store its NextCursor in one transaction, and each event is handled once; or handle them and then store it, and after
// a crash some are handled twice. No event is skipped.
//
// While the API cannot be reached, refuses because of the rate limit or answers 5xx, Feed tries again for as long as the context
// allows. It ends with an error that stays: that of the context, a refusal such as CodeInvalidAPIKey, or ErrEventsLost.
func (c *Client) Feed(ctx context.Context, feed Feed) iter.Seq2[*EventPage, error] {
	return func(yield func(*EventPage, error) bool) {
		query := ListEventsQuery{Paging: Paging{After: feed.After, Limit: feed.Limit}, Wait: feed.Wait}
		if query.Wait <= 0 {
			query.Wait = MaxWait
		}
		for failures := 0; ; {
			began := time.Now()
			page, err := c.ListEvents(ctx, query)
			switch {
			case err == nil:
				failures = 0
			case ctx.Err() != nil || !retryable(err):
				yield(nil, lost(err))
				return
			default:
				failures++
				if feed.Retrying != nil {
					feed.Retrying(err)
				}
				if !pause(ctx, delay(err, failures)) {
					yield(nil, err)
					return
				}
				continue
			}
			moved := page.NextCursor != query.After
			if (moved || len(page.Items) > 0) && !yield(page, nil) {
				return
			}
			query.After = page.NextCursor
			// The API may answer a call at once that should wait.
			if (!moved || len(page.Items) == 0 && page.AtEnd) && !pause(ctx, time.Second-time.Since(began)) {
				yield(nil, cmp.Or(ctx.Err(), context.DeadlineExceeded))
				return
			}
		}
	}
}

// lost recognizes a refusal of the cursor.
func lost(err error) error {
	if problem, ok := ProblemOf(err); ok && problem.Status == http.StatusBadRequest {
		if _, after := problem.FieldError("after"); after {
			return errors.Join(ErrEventsLost, err)
		}
	}
	return err
}

// Events reads the feed from a cursor to its end, as it is now.
func (c *Client) Events(ctx context.Context, query ListEventsQuery, options ...CallOption) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for page, err := range c.EventPages(ctx, query, options...) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Items {
				if !yield(event, nil) {
					return
				}
			}
		}
	}
}

// EventPages is like Events, with the cursors.
func (c *Client) EventPages(ctx context.Context, query ListEventsQuery, options ...CallOption) iter.Seq2[*EventPage, error] {
	return func(yield func(*EventPage, error) bool) {
		query := query
		for {
			page, err := c.ListEvents(ctx, query, options...)
			if err != nil {
				yield(nil, lost(err))
				return
			}
			// A proxy may remove what says that this is the end.
			if !yield(page, nil) || page.AtEnd || page.NextCursor == query.After {
				return
			}
			query.After = page.NextCursor
		}
	}
}
