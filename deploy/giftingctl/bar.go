package giftingctl

import (
	"io"

	"github.com/partnergifting/platform/pkg/progress"
)

// bar shows the progress of long work on a terminal. Elsewhere it only counts.
func (a *app) bar(what string, total int) *progress.Bar {
	if !a.Terminal {
		return progress.New(io.Discard, what, total)
	}
	return progress.New(a.Err, what, total)
}
