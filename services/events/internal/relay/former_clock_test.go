package relay

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// clockReading is what the relay reads of the server of source 0. Times are those of the relay.
type clockReading struct {
	at, took time.Duration
	server   string
	ahead    time.Duration
	newest   int64
}

// recordedRow is a row of source 0, recorded while the clock of its server was ahead.
type recordedRow struct {
	id    int64
	at    time.Duration
	ahead time.Duration
}

func TestARowIsConvertedByTheClockThatRecordedIt(t *testing.T) {
	t.Parallel()
	const (
		ms, s = time.Millisecond, time.Second
		now   = 10 * s
	)
	for name, test := range map[string]struct {
		readings []clockReading
		row      recordedRow
	}{
		"the clock stepped forwards": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: 60 * s, newest: 2}},
			recordedRow{id: 1, at: 7900 * ms},
		},
		"the clock stepped forwards after a row that no read has seen": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: 60 * s, newest: 3}},
			recordedRow{id: 2, at: 9 * s},
		},
		"the clock stepped forwards by less than the time since the last reading": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: s, newest: 2}},
			recordedRow{id: 1, at: 7900 * ms},
		},
		"the clock stepped forwards, and then a little after a slow reading": {
			[]clockReading{
				{at: 7 * s, newest: 1},
				{at: 8 * s, ahead: 60 * s, newest: 1},
				{at: 8100 * ms, took: 4 * s, ahead: 60 * s, newest: 1},
				{at: now, ahead: 61 * s, newest: 2},
			},
			recordedRow{id: 1, at: 6900 * ms},
		},
		"the clock stepped back, and the row is older than the step is long": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: -1500 * ms, newest: 2}},
			recordedRow{id: 1, at: 7900 * ms},
		},
		"the clock stepped back, and no read has seen the row": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: -40 * s, newest: 3}},
			recordedRow{id: 2, at: 9 * s},
		},
		"the row was recorded after the clock stepped forwards": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: 60 * s, newest: 2}},
			recordedRow{id: 2, at: 9 * s, ahead: 60 * s},
		},
		"the row was recorded after the clock stepped back": {
			[]clockReading{{at: 8 * s, newest: 1}, {at: now, ahead: -500 * ms, newest: 2}},
			recordedRow{id: 2, at: 9 * s, ahead: -500 * ms},
		},
		"another server took over whose clock is behind": {
			[]clockReading{{at: 8 * s, server: "before", ahead: 1500 * ms, newest: 1}, {at: now, server: "after", newest: 33}},
			recordedRow{id: 1, at: 7900 * ms, ahead: 1500 * ms},
		},
		"another server took over whose clock is ahead": {
			[]clockReading{{at: 8 * s, server: "before", newest: 1}, {at: now, server: "after", ahead: 1500 * ms, newest: 33}},
			recordedRow{id: 1, at: 7900 * ms},
		},
		"a restored server has handed out the id again": {
			[]clockReading{{at: 8 * s, server: "before", newest: 100}, {at: now, server: "after", ahead: 40 * s, newest: 50}},
			recordedRow{id: 40, at: 9 * s, ahead: 40 * s},
		},
		"the clock stepped and was corrected": {
			[]clockReading{{at: 5 * s, newest: 1}, {at: 7 * s, ahead: 60 * s, newest: 3}, {at: now, newest: 5}},
			recordedRow{id: 1, at: 4900 * ms},
		},
		"the clock stepped and was corrected, and no read has seen the row": {
			[]clockReading{{at: 5 * s, newest: 1}, {at: 7 * s, ahead: 60 * s, newest: 3}, {at: now, newest: 5}},
			recordedRow{id: 2, at: 6 * s},
		},
		"the clock stepped and was corrected, and the row is of the time between": {
			[]clockReading{{at: 5 * s, newest: 1}, {at: 7 * s, ahead: 60 * s, newest: 3}, {at: now, newest: 5}},
			recordedRow{id: 3, at: 6500 * ms, ahead: 60 * s},
		},
		"two servers took over, one after the other": {
			[]clockReading{
				{at: 5 * s, server: "first", ahead: 1500 * ms, newest: 1},
				{at: 7 * s, server: "second", ahead: -500 * ms, newest: 33},
				{at: now, server: "third", newest: 65},
			},
			recordedRow{id: 1, at: 4900 * ms, ahead: 1500 * ms},
		},
		"a reading that took long may have been after the step": {
			[]clockReading{
				{at: 7 * s, newest: 1},
				{at: 8 * s, took: 200 * ms, ahead: 50 * ms, newest: 2},
				{at: now, ahead: 50 * ms, newest: 3},
			},
			recordedRow{id: 2, at: 7800 * ms, ahead: 50 * ms},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
			r := &Relay{
				windows: make([]window, 1), servers: make([]*server, 1), log: slog.New(slog.DiscardHandler),
				sources: []*source{{name: "orders"}}, clockOffsets: map[string]*clockOffset{},
			}
			r.outstanding.reset(len(r.sources))
			servers := map[string]*server{}
			var last reading
			for _, c := range test.readings {
				if servers[c.server] == nil {
					servers[c.server] = &server{instance: c.server}
				}
				answered := began.Add(c.at)
				last = reading{tick: tick{
					asked: answered.Add(-c.took), answered: answered, clock: answered.Add(-c.took / 2).Add(c.ahead),
					server: servers[c.server], newest: c.newest,
				}}
				if err := r.observeTicks([]reading{last}); err != nil {
					require.ErrorIs(t, err, errServerChanged)
					require.NoError(t, r.observeTicks([]reading{last}), "the source is read again")
				}
			}
			recorded := began.Add(test.row.at)
			last.rows = []row{{id: test.row.id, recordedAt: recorded.Add(test.row.ahead), change: &eventsv1.Change{}}}
			b := batch{began: began.Add(now), readings: []reading{last}}
			r.merge(&b)
			require.WithinDuration(t, recorded, b.times[0][0], ms)
		})
	}
}

// A transaction that was open during the step commits later.
func TestAFormerClockIsKnownUntilAllItsTransactionsHaveEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) reading { return reading{tick: tick{answered: at.Add(d)}} }
	w := window{formerClocks: []formerClock{{last: tick{answered: at}}}}
	w.advance(after(time.Second), 0)
	require.Len(t, w.formerClocks, 1)
	later := after(longestTransaction + time.Second)
	later.rows = []row{{id: 1}}
	w.advance(later, 0)
	require.Len(t, w.formerClocks, 1, "a row is left")
	w.advance(later, 1)
	require.Empty(t, w.formerClocks)
}
