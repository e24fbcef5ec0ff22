package gifting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// FeedPosition is where the feed begins without a cursor.
type FeedPosition string

// The positions of the feed.
const (
	// FeedStart is the oldest event that is kept, of 30 days. It is the default.
	FeedStart FeedPosition = "start"
	// FeedEnd is the end of the feed at the moment of the call, before what happens later.
	FeedEnd FeedPosition = "end"
)

// ListEventsQuery chooses a part of the feed.
type ListEventsQuery struct {
	Paging

	// From is where to begin without After.
	From FeedPosition
	// Wait is how long the API may hold the call until there is an event, in whole seconds up to MaxWait.
	Wait time.Duration
}

// Events are those of the feed.
type Events struct{ client *Client }

var errWait = errors.New("is not a whole number of seconds, 1 to 30")

// checkWait refuses a wait that the API does not accept. Zero means no wait.
func checkWait(wait time.Duration) error {
	if wait < 0 || wait > MaxWait || wait%time.Second != 0 {
		return fmt.Errorf("the wait %w: %v", errWait, wait)
	}
	return nil
}

var errFrom = errors.New("is neither start nor end")

// checkFrom refuses a position that the API does not know. Otherwise the feed would begin with the oldest event.
func checkFrom(from FeedPosition) error {
	if from != "" && from != FeedStart && from != FeedEnd {
		return fmt.Errorf("the position to begin from %w: %s", errFrom, from)
	}
	return nil
}

// List reads a page of the feed, in commit order.
func (e Events) List(ctx context.Context, query ListEventsQuery, options ...CallOption) (*EventPage, error) {
	if err := checkWait(query.Wait); err != nil {
		return nil, err
	}
	if query.From == FeedEnd && query.Wait > 0 && query.After == "" {
		// The end is a cursor first, without a wait: if that call were held and lost, the next would begin after what it waited for.
		end, err := e.List(ctx, ListEventsQuery{Paging: query.Paging, From: FeedEnd}, options...)
		if err != nil {
			return nil, err
		}
		query.From, query.After = "", end.NextCursor
	}
	seconds := int(query.Wait / time.Second)
	values := query.filters("from", string(query.From))
	if seconds > 0 {
		values.Set("wait", strconv.Itoa(seconds))
	}
	made := &call{method: http.MethodGet, route: routeTo("/events"), query: values, wait: time.Duration(seconds) * time.Second}
	page, err := send[EventPage](ctx, e.client, made, options)
	if err == nil && page.NextCursor == "" {
		page.NextCursor = query.After
	}
	return page, err
}

// ErrEventsLost is what the feed answers to a cursor whose next events are no longer kept: read all your records again, then read
// the feed without a cursor.
var ErrEventsLost = errors.New(
	"events after this cursor are no longer kept: read all records again, then the feed from its beginning",
)

// FeedOptions say where [Events.Feed] begins, and how it goes on.
type FeedOptions struct {
	// After is the NextCursor that you stored with what you had processed.
	After string
	// From is where to begin without After.
	From FeedPosition
	// Limit is the number of events of a page, 1 to 100. Without it the API chooses.
	Limit int
	// StopAtEnd ends the feed where it ends now. Otherwise it waits for new events.
	StopAtEnd bool
	// Wait is how long one call may wait for an event, in whole seconds up to MaxWait; MaxWait without it. Proxies in between must
	// allow it.
	Wait time.Duration
	// OnDisconnect is called when the feed cannot be read for now, before it is tried again. It may be nil.
	OnDisconnect func(error)
}

// Feed reads the feed: each page whose cursor has moved, as soon as there is one. Handle its events and store its NextCursor in one
// transaction, and each event is handled once; or handle them and then store it, and after a crash some are handled twice. No event
// is skipped. A page without events only moves the cursor.
//
// While the API cannot be reached, refuses because of the rate limit or answers 5xx, Feed tries again for as long as the context
// allows. It ends with an error that stays: that of the context, a refusal such as CodeInvalidAPIKey, or ErrEventsLost.
func (e Events) Feed(ctx context.Context, options FeedOptions) iter.Seq2[*EventPage, error] {
	return func(yield func(*EventPage, error) bool) {
		if err := errors.Join(checkWait(options.Wait), checkFrom(options.From)); err != nil {
			yield(nil, err)
			return
		}
		cursor, seen := options.After, cursors{options.After: true}
		for {
			began := time.Now()
			page, held, err := e.next(ctx, options, cursor)
			moved := err == nil && page.NextCursor != cursor
			if moved && options.StopAtEnd {
				err = seen.add(page.NextCursor)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if moved && !yield(page, nil) || options.StopAtEnd && (page.AtEnd || !moved) {
				return
			}
			cursor = page.NextCursor
			// The API may answer a call at once that should wait.
			if (!moved || !held) && !pause(ctx, time.Second-time.Since(began)) {
				yield(nil, cmp.Or(ctx.Err(), context.DeadlineExceeded))
				return
			}
		}
	}
}

// next reads a page, however often that fails, and says whether the API was ready to hold the call.
func (e Events) next(ctx context.Context, options FeedOptions, cursor string) (page *EventPage, held bool, err error) {
	query := ListEventsQuery{Paging: Paging{After: cursor, Limit: options.Limit}}
	switch {
	case cursor == "" && options.From == FeedEnd:
		// The end is a cursor first, without a wait: if that call were held and lost, the next would begin after what it waited for.
		query.From = FeedEnd
	case !options.StopAtEnd:
		query.Wait = cmp.Or(options.Wait, MaxWait)
	}
	for failures := 1; ; failures++ {
		var response Response
		page, err = e.List(ctx, query, WithResponse(&response), func(c *call) { c.attempts = 1 })
		if err == nil || ctx.Err() != nil || !retryable(err) {
			return page, response.Header.Get("Wait") != "0", lost(err)
		}
		if options.OnDisconnect != nil {
			options.OnDisconnect(err)
		}
		if !pause(ctx, delay(err, failures)) {
			return nil, false, err
		}
	}
}

// lost adds ErrEventsLost to the refusal of a cursor whose next events are no longer kept. It returns any other error as it is.
func lost(err error) error {
	if problem, ok := ProblemOf(err); ok {
		if field, _ := problem.FieldError("after"); field.Code == "events_lost" {
			return errors.Join(ErrEventsLost, err)
		}
	}
	return err
}
