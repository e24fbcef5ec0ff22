// Package page reads the paging parameters that all lists of the API share, and makes their cursors (API specification, section
// Endpoints).
package page

import (
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// DefaultLimit is the page size when limit is absent.
	DefaultLimit = 50
	// MaxLimit is the largest page.
	MaxLimit = 100
)

// Limit returns the page size, recording a violation on `limit` when it is outside 1 to 100.
func Limit(limit *int32, errs *fields.Errors) int {
	if limit == nil {
		return DefaultLimit
	}
	if *limit < 1 || *limit > MaxLimit {
		errs.Add("limit", problem.FieldInvalid, "must be an integer from 1 to 100")
	}
	return int(*limit)
}

// After returns the position of a cursor, or nil without one, recording a violation on `after` when the cursor is invalid or does
// not belong to the binding. It is called after the filters are checked: if one of them is invalid, a cursor of another binding is
// no violation.
func After(after *string, binding Binding, errs *fields.Errors) *Position {
	if after == nil {
		return nil
	}
	position, err := binding.DecodePosition(*after)
	if errors.Is(err, ErrForeignCursor) && errs.Err() != nil {
		return nil
	}
	if err != nil {
		errs.Add("after", problem.FieldInvalid, "is not a cursor of this list and these filters")
		return nil
	}
	return &position
}

// Since returns the instant of `updatedSince`, or nil, recording a violation when it is none. It is rounded up to the whole
// microseconds of stored times, so that nothing is listed that changed before it.
func Since(value *timestamppb.Timestamp, errs *fields.Errors) *timestamppb.Timestamp {
	if value == nil {
		return nil
	}
	if !value.IsValid() {
		errs.Add("updatedSince", problem.FieldInvalid, "must be an instant between the years 1 and 9999")
	}
	return timestamppb.New(value.AsTime().Add(time.Microsecond - time.Nanosecond).Truncate(time.Microsecond))
}

// Part is an optional filter as a part of a cursor's binding: absent differs from empty.
func Part(filter *string) string {
	if filter == nil {
		return ""
	}
	return "=" + *filter
}

// Cut shortens a list that was read with one item more than the limit. It returns the items of the page and the cursor of
// the next one, nil after the last.
func Cut[T any](found []T, limit int, binding Binding, position func(last T) Position) (items []T, next *string) {
	if len(found) <= limit {
		return found, nil
	}
	text := binding.EncodePosition(position(found[limit-1]))
	return found[:limit], &text
}
