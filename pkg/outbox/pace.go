package outbox

import (
	"math"
	"time"
)

const (
	// shortGap is how long a change waits at most at low load: a small part of its time to a receiver.
	shortGap = 3 * time.Millisecond
	// longGap is small compared with the SLO: a change is in the feed within 30 ms.
	longGap = 12 * time.Millisecond
	// Gaps grow between these rates, in changes per second. Below, a longer gap would hardly make a batch larger.
	calmRate, busyRate = 250, 600
	// paceMemory is how long a rate counts. A burst of a few changes is no high rate.
	paceMemory = 100 * time.Millisecond
)

// Pace says how long changes wait for others: between two notifications of the relay, and between two of its batches. Each batch
// costs a transaction or a message in each source, the broker, the feed and the webhooks, whatever its size. So under load batches
// get larger, not more frequent. The zero value is ready for use by one goroutine.
type Pace struct {
	at time.Time
	// perSecond is the rate of changes.
	perSecond float64
}

// Next returns the time to wait after n changes.
func (p *Pace) Next(now time.Time, n int) time.Duration {
	since := max(now.Sub(p.at), time.Microsecond)
	share := 1 - math.Exp(-since.Seconds()/paceMemory.Seconds())
	p.perSecond += share * (float64(n)/since.Seconds() - p.perSecond)
	p.at = now
	busy := max(0, min(1, (p.perSecond-calmRate)/(busyRate-calmRate)))
	return shortGap + time.Duration(busy*float64(longGap-shortGap))
}
