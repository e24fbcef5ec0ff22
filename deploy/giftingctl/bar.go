package giftingctl

import (
	"io"

	"github.com/partnergifting/platform/pkg/daemon"
)

// bar shows the progress of long work on a terminal. Elsewhere it only counts.
func (a *app) bar(what string, total int) *daemon.ProgressBar {
	if !a.Terminal {
		return daemon.NewProgressBar(io.Discard, what, total)
	}
	return daemon.NewProgressBar(a.Err, what, total)
}
