package server

import (
	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
)

// pageSize is page.Limit under the operations plane's name for it.
func pageSize(size *int32, errs *fields.Errors) int {
	if size == nil {
		return page.DefaultLimit
	}
	if *size < 1 || *size > page.MaxLimit {
		errs.Add("pageSize", problem.FieldInvalid, "must be an integer from 1 to 100")
	}
	return int(*size)
}

// pageToken is page.After under the operations plane's name for it.
func pageToken(token *string, binding cursor.Binding, errs *fields.Errors) *cursor.Position {
	if token == nil {
		return nil
	}
	position, err := binding.DecodePosition(*token)
	if err != nil {
		errs.Add("pageToken", problem.FieldInvalid, "is not a token of this list and these filters")
		return nil
	}
	return &position
}
