package relay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/kafka"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Reader returns how far a consumer has stored the topic: of each partition the offset after the last stored message.
type Reader func(ctx context.Context) (map[int]int64, error)

const (
	// maxOutstanding bounds the memory for rows that wait for the readers. Rows beyond it are published again when only
	// fewOutstanding are left.
	maxOutstanding = 250_000
	fewOutstanding = maxOutstanding / 10
	// maxConfirmed is how many rows one statement confirms or deletes. It compares each of them with all.
	maxConfirmed     = 500
	confirmTimeout   = 15 * time.Second
	deletionInterval = time.Minute
)

// publishedRow is a row that was published and that not all readers have stored.
type publishedRow struct {
	id        int64
	eventID   string
	partition int
	offset    int64
	// publishedAt is by the clock of this process.
	publishedAt time.Time
}

// outstanding holds the rows that were published and that not all readers have stored. It is safe for concurrent use.
type outstanding struct {
	lock sync.Mutex
	outstandingRows
}

type outstandingRows struct {
	// rows of each source, in the order of publishing.
	rows [][]publishedRow
	// newest is the last row of each partition.
	newest map[int]publishedRow
	count  int
	// overflow means that rows were not added.
	overflow bool
	// resets counts how often rows were forgotten.
	resets int
}

func (o *outstanding) reset(sources int) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.clear(sources)
}

// clear needs the lock.
func (o *outstanding) clear(sources int) {
	o.outstandingRows = outstandingRows{rows: make([][]publishedRow, sources), newest: map[int]publishedRow{}, resets: o.resets + 1}
}

// forget drops the rows of a source.
func (o *outstanding) forget(source int) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.count -= len(o.rows[source])
	o.rows[source] = nil
	o.resets++
}

// addPublished notes the rows with the positions of their messages. If a message got an offset up to that of an earlier one, Kafka
// has lost that one: addPublished forgets all rows instead, because the offsets of lost messages would soon be confirmed, and
// returns what was lost.
func (o *outstanding) addPublished(items []item, msgs []kafka.Message) (lost *publishedRow) {
	o.lock.Lock()
	defer o.lock.Unlock()
	now := time.Now()
	for i, it := range items {
		row := publishedRow{
			id: it.id, eventID: it.change.GetEventId(), partition: msgs[i].Partition, offset: msgs[i].Offset, publishedAt: now,
		}
		if before, known := o.newest[row.partition]; known && row.offset <= before.offset {
			o.clear(len(o.rows))
			return &before
		}
		o.newest[row.partition] = row
		if o.count >= maxOutstanding {
			o.overflow = true
			continue
		}
		o.rows[it.source] = append(o.rows[it.source], row)
		o.count++
	}
	return nil
}

// snapshot returns what is outstanding.
func (o *outstanding) snapshot() outstandingRows {
	o.lock.Lock()
	defer o.lock.Unlock()
	copied := o.outstandingRows
	copied.rows, copied.newest = slices.Clone(o.rows), maps.Clone(o.newest)
	return copied
}

// age returns for how long the oldest row has been outstanding.
func (o *outstanding) age() time.Duration {
	o.lock.Lock()
	defer o.lock.Unlock()
	var age time.Duration
	for _, rows := range o.rows {
		if len(rows) > 0 {
			age = max(age, time.Since(rows[0].publishedAt))
		}
	}
	return age
}

// keepUnconfirmed replaces the rows of a source as they were before with those that are not confirmed yet.
func (o *outstanding) keepUnconfirmed(before outstandingRows, source int, unconfirmed []publishedRow) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.resets != before.resets {
		return
	}
	n := len(before.rows[source])
	o.rows[source] = append(unconfirmed, o.rows[source][n:]...)
	o.count -= n - len(unconfirmed)
}

// confirmRows confirms what the readers have stored, until ctx ends.
func (r *Relay) confirmRows(ctx context.Context) {
	lastDeletion := time.Now()
	for ctx.Err() == nil {
		pause(ctx, r.cfg.ConfirmInterval, nil)
		if err := r.confirm(ctx); err != nil && ctx.Err() == nil {
			r.metrics.failures.Add(ctx, 1)
			r.log.WarnContext(ctx, "relay cannot confirm changes, their rows stay in the outbox", "error", err)
		}
		if r.cfg.Retention > 0 && time.Since(lastDeletion) >= deletionInterval {
			lastDeletion = time.Now()
			if err := r.deleteOld(ctx); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "relay cannot delete old rows", "error", err)
			}
		}
	}
}

// confirm deletes the rows that all readers have stored, or marks them if they are kept. If the topic no longer has the newest
// message that was published to a partition, its tail was lost, and all rows are published again.
func (r *Relay) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	waiting := r.outstanding.snapshot()
	if waiting.overflow && waiting.count < fewOutstanding {
		r.publishAgain()
		return nil
	}
	if waiting.count == 0 {
		return nil
	}
	stored, err := r.stored(ctx)
	if err != nil {
		return err
	}
	if intact, err := r.intact(ctx, waiting); err != nil || !intact {
		return err
	}
	return r.forEachSource(ctx, func(ctx context.Context, i int, s *source) error {
		var confirmed, unconfirmed []publishedRow
		for _, row := range waiting.rows[i] {
			if row.offset < stored[row.partition] {
				confirmed = append(confirmed, row)
			} else {
				unconfirmed = append(unconfirmed, row)
			}
		}
		for len(confirmed) > 0 {
			n := min(len(confirmed), maxConfirmed)
			if err := s.confirm(ctx, confirmed[:n], r.cfg.Retention > 0); err != nil {
				return err
			}
			confirmed = confirmed[n:]
		}
		r.outstanding.keepUnconfirmed(waiting, i, unconfirmed)
		return nil
	})
}

// stored returns how far all readers have stored each partition.
func (r *Relay) stored(ctx context.Context) (map[int]int64, error) {
	var all map[int]int64
	for _, reader := range r.readers {
		next, err := reader(ctx)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = next
			continue
		}
		maps.DeleteFunc(all, func(partition int, _ int64) bool { _, found := next[partition]; return !found })
		for partition := range all {
			all[partition] = min(all[partition], next[partition])
		}
	}
	return all, nil
}

// intact reports whether the topic has the newest message that was published to each partition with outstanding rows. Then it
// has all earlier ones too, because a log that loses messages loses its end.
func (r *Relay) intact(ctx context.Context, outstanding outstandingRows) (bool, error) {
	partitions := map[int]bool{}
	for _, rows := range outstanding.rows {
		for _, row := range rows {
			partitions[row.partition] = true
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	var lock sync.Mutex
	intact := true
	for partition := range partitions {
		newest := outstanding.newest[partition]
		group.Go(func() error {
			found, err := r.eventAt(ctx, newest)
			if err != nil {
				return err
			}
			if found != newest.eventID {
				r.reportLost(ctx, newest, found)
				lock.Lock()
				defer lock.Unlock()
				intact = false
			}
			return nil
		})
	}
	return intact, group.Wait()
}

// reportLost reports that Kafka no longer has a row's message, and requests that all rows are published again.
func (r *Relay) reportLost(ctx context.Context, row publishedRow, found string) {
	r.metrics.lostTails.Add(ctx, 1)
	r.log.ErrorContext(ctx, "Kafka has lost messages that it had acknowledged, publishing again what is in the outboxes",
		"partition", row.partition, "offset", row.offset, "event_id", row.eventID, "found_event_id", found)
	r.publishAgain()
}

// publishAgain requests that all rows are published again.
func (r *Relay) publishAgain() {
	r.resetRequested.Store(true)
	r.Wake()
}

// eventAt returns the id of the event at a row's position, or nothing if there is no message.
func (r *Relay) eventAt(ctx context.Context, row publishedRow) (string, error) {
	m, err := r.publisher.Message(ctx, row.partition, row.offset)
	if errors.Is(err, kafka.ErrNoMessage) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var c eventsv1.Change
	if err := proto.Unmarshal(m.Value, &c); err != nil {
		return "", fmt.Errorf("decode the message at %d/%d: %w", row.partition, row.offset, err)
	}
	return c.GetEventId(), nil
}

// deleteOld deletes confirmed rows past retention.
func (r *Relay) deleteOld(ctx context.Context) error {
	return r.forEachSource(ctx, func(ctx context.Context, _ int, s *source) error {
		for {
			n, err := s.deleteOld(ctx, r.cfg.Retention, maxConfirmed)
			if err != nil || n < maxConfirmed {
				return err
			}
		}
	})
}
