package outbox

import "time"

const (
	// shortGap is what a change waits at most where few come: it is a small part of its way to a receiver.
	shortGap = 3 * time.Millisecond
	// gapOfRow lets gaps grow from a thousand changes a second on.
	gapOfRow = time.Millisecond
	// longGap is small beside the SLO: a change is in the feed within 30 ms.
	longGap = 12 * time.Millisecond
)

// PollDelay is how long to leave the outbox alone after n changes: between two calls of the relay, and between two of its
// rounds. A round costs each source, the broker, the feed and the webhooks a transaction or a message, however much it
// carries. Under load rounds therefore become larger instead of more, and what they cost is left to the requests.
func PollDelay(n int) time.Duration {
	return max(shortGap, min(time.Duration(n), longGap/gapOfRow)*gapOfRow)
}
