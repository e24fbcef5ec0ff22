package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
)

// Event is an event with the keys that receive it.
type Event struct {
	TenantID string
	ID       string
	Type     string
	// BrandID is that of the event's record.
	BrandID string
	// SubjectID is the event's order or link.
	SubjectID string
	Body      []byte
	// TraceParent is the recorded trace in which the event is fanned out, or empty.
	TraceParent string
	KeyIDs      []int32
}

// Lease says who sends new deliveries at once. A nil lease is none.
type Lease struct {
	// Sender is the id under which the caller has registered. Without a registration nothing is leased.
	Sender int64
	// Length is the time from the beginning of the transaction until the rows are due.
	Length time.Duration
	// Share is how many rows of one endpoint may be leased, over all instances.
	Share int
	// Slots are the deliveries that the caller wants to send, each with how many rows of its endpoint the caller then has.
	Slots map[DeliveryID]int
}

// FannedOut is the result of storing deliveries.
type FannedOut struct {
	// Leased are the deliveries that the caller must send, or release.
	Leased []Delivery
	// Due are the endpoints of the others.
	Due []Due
}

// Rejected is a message that is not a valid change. Its value stays in Kafka only: it belongs to no tenant, so no erasure of a
// person would find it.
type Rejected struct {
	Topic     string
	Partition int
	Offset    int64
	Reason    string
}

// Messages say which messages of a Kafka partition are stored.
type Messages struct {
	Partition int
	// First is the offset of the first message, Next that after the last one.
	First, Next int64
	// LastID is the event of the last message, LastTime its Kafka time.
	LastID   string
	LastTime time.Time
}

// offsetOf selects columns of a partition's row, which every batch updates.
func offsetOf(partition, columns string) string {
	return postgres.NewestVersion(columns, "fan_out_offsets", "kafka_partition", partition)
}

var (
	// Rows are locked in a fixed order, so that transactions do not deadlock. Endpoints of rows to lease are locked as by a claim.
	// The next statements see what the last holders of the locks have committed.
	//
	// The commit of messages does not wait for the disk. If a crash of the server loses it, the stored offset is lost too, so the
	// messages are read again. What was sent until then is sent again, as after a lost lease.
	lockFanOut = `
SELECT ` + now + `, NULL::int, NULL::bigint,
       set_config('fan_out.locked', (
         SELECT coalesce(array_agg(k.key_id) FILTER (WHERE pg_try_advisory_xact_lock($4::int, k.key_id)), '{}')::text
           FROM unnest($3::int[]) AS k (key_id)), true),
       CASE WHEN $5 THEN ` + asyncCommit + ` END
UNION ALL
SELECT ` + now + `, p.partition, o.next_offset, NULL, NULL
  FROM (SELECT partition FROM unnest($2::int[]) AS u (partition) ORDER BY partition) p
 CROSS JOIN LATERAL (` + offsetOf("p.partition", "next_offset") + ` FOR UPDATE) o`

	// The offset of a partition moves unless its messages begin after it. It never moves back.
	moveOffsets = `accepted AS MATERIALIZED (
  SELECT m.partition, m.next, m.last_id, m.last_time, o.ctid, o.next_offset
    FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::text[], $6::timestamptz[])
      AS m (partition, first, next, last_id, last_time)
   CROSS JOIN LATERAL (` + offsetOf("m.partition", "ctid, next_offset") + `) o
   WHERE m.first <= o.next_offset
), moved AS (
  UPDATE fan_out_offsets o
     SET next_offset = m.next, last_id = m.last_id, last_time = m.last_time
    FROM accepted m
   WHERE o.ctid = m.ctid AND m.next_offset < m.next
)`

	// moveOnly is for messages of which no key receives an event.
	moveOnly = `WITH ` + moveOffsets + ` SELECT ` + now
)

// An event that is already stored has been fanned out. It gets no further deliveries, even if more keys subscribe now. An event of
// messages that begin after the stored offset is not stored. The rows that the caller wants to send at once are leased to it, as
// many of an endpoint as a claim would lease. Their slots are counted by the caller: a window function costs each event more.
var insertEvents = `
WITH ` + moveOffsets + `, fresh AS (
  INSERT INTO events (tenant_id, event_id, type, body, traceparent, created_at, brand_id, subject_id)
  SELECT e.tenant_id, e.event_id, e.type, e.body, e.traceparent, ` + now + `, e.brand_id, e.subject_id
    FROM unnest($7::uuid[], $8::uuid[], $9::text[], $10::bytea[], $11::text[], $12::int[], $13::uuid[], $24::uuid[])
      AS e (tenant_id, event_id, type, body, traceparent, partition, brand_id, subject_id)
   WHERE e.partition < 0 OR e.partition = ANY (ARRAY(SELECT a.partition FROM accepted a))
  ON CONFLICT (tenant_id, event_id) DO NOTHING
  RETURNING tenant_id, event_id
), endpoint AS MATERIALIZED (
  SELECT w.tenant_id, w.key_id, $21 - others.leased AS slots
    FROM unnest($18::uuid[], $19::int[]) AS w (tenant_id, key_id)
   CROSS JOIN LATERAL (` + leasedByOthers("w", "$20", "$21") + `) others
   WHERE w.key_id = ANY (nullif(current_setting('fan_out.locked', true), '')::int[])
     AND EXISTS (SELECT FROM senders WHERE id = $20) AND ` + notHeld("w.tenant_id") + `
     AND NOT EXISTS (
       SELECT FROM pauses p WHERE p.tenant_id = w.tenant_id AND p.key_id = w.key_id AND p.until > ` + now + `)
), stored AS (
  INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at, lease_token, leased_by)
  SELECT d.tenant_id, d.event_id, d.key_id,
         CASE WHEN w.slots IS NULL THEN ` + now + ` ELSE ` + now + ` + $22::interval END, ` + now + `,
         CASE WHEN w.slots IS NOT NULL THEN $23::uuid END, CASE WHEN w.slots IS NULL THEN 0 ELSE $20 END
    FROM unnest($14::uuid[], $15::uuid[], $16::int[], $17::int[]) AS d (tenant_id, event_id, key_id, slot)
    JOIN fresh ON fresh.tenant_id = d.tenant_id AND fresh.event_id = d.event_id
    LEFT JOIN endpoint w ON w.tenant_id = d.tenant_id AND w.key_id = d.key_id AND d.slot <= w.slots
  ON CONFLICT (tenant_id, event_id, key_id) DO NOTHING
  RETURNING tenant_id, event_id, key_id, lease_token
)
SELECT tenant_id, event_id, key_id FROM stored WHERE lease_token IS NOT NULL`

const insertRejected = `
INSERT INTO rejected_messages (topic, partition, "offset", reason, value, rejected_at)
VALUES ($2, $3, $4, $5, '', ` + now + `)
ON CONFLICT (topic, partition, "offset") DO NOTHING`

// batch holds the events and rejected messages of a batch of one Kafka partition.
type batch struct {
	// messages is nil if the events are not those of messages.
	messages *Messages
	events   []Event
	// key gets deliveries of events that are already stored; 0 is none.
	key      int32
	rejected []Rejected
	lease    *Lease
	// beyondStored means that the messages begin after the stored offset.
	beyondStored bool
	// storedAt is when the transaction that stored it began, and leased are the rows that it leased, under the token.
	storedAt time.Time
	leased   map[DeliveryID]struct{}
	token    string
}

// FanOut stores the events with one pending delivery per key, due now, and returns their endpoints. Events that are already stored
// get one only for the given key, unless they have one; 0 is none.
func (s *Store) FanOut(ctx context.Context, key int32, events []Event) ([]Due, error) {
	done, err := s.store(ctx, &batch{events: events, key: key})
	return done.Due, err
}

// FanOutMessages stores the events and rejected messages of consecutive messages, and the offset after them. Events and
// messages that are already stored have no effect. Messages that begin after the stored offset are refused with
// kafka.ErrBeyondStored. Concurrent calls share a transaction. Deliveries that the caller wants to send at once are leased to it
// unless other instances have the slots of their endpoint, or one of them is just claiming for it.
func (s *Store) FanOutMessages(
	ctx context.Context, m Messages, events []Event, rejected []Rejected, lease *Lease,
) (FannedOut, error) {
	return s.store(ctx, &batch{messages: &m, events: events, rejected: rejected, lease: lease})
}

func (s *Store) store(ctx context.Context, b *batch) (FannedOut, error) {
	err := s.fanOuts.Do(ctx, b)
	if err == nil && b.beyondStored {
		err = kafka.ErrBeyondStored
	}
	if err != nil {
		return FannedOut{}, fmt.Errorf("store deliveries: %w", err)
	}
	return b.result(), nil
}

// result returns the leased deliveries, and each endpoint of the others once.
func (b *batch) result() (done FannedOut) {
	seen := map[Endpoint]struct{}{}
	for _, e := range b.events {
		for _, key := range e.KeyIDs {
			id := DeliveryID{Endpoint{e.TenantID, key}, e.ID}
			if _, leased := b.leased[id]; leased {
				done.Leased = append(done.Leased, Delivery{
					DeliveryID: id, Type: e.Type, BrandID: e.BrandID, Body: e.Body, Token: b.token, TraceParent: e.TraceParent,
				})
			} else if _, again := seen[id.Endpoint]; !again {
				seen[id.Endpoint] = struct{}{}
				done.Due = append(done.Due, Due{Endpoint: id.Endpoint, Since: b.storedAt})
			}
		}
	}
	return done
}

// fanOut stores batches in one transaction, or in several if there are two of one partition.
func (s *Store) fanOut(ctx context.Context, batches []*batch) error {
	for len(batches) > 0 {
		var first, rest []*batch
		has := map[int]bool{}
		for _, b := range batches {
			if b.messages != nil && has[b.messages.Partition] {
				rest = append(rest, b)
				continue
			}
			if b.messages != nil {
				has[b.messages.Partition] = true
			}
			first = append(first, b)
		}
		if err := s.fanOutInOneTx(ctx, first); err != nil {
			return err
		}
		batches = rest
	}
	return nil
}

func (s *Store) fanOutInOneTx(ctx context.Context, batches []*batch) error {
	c := columnsOf(batches)
	at, token := s.nowOverride(), uuid.NewString()
	return postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		if slices.ContainsFunc(batches, func(b *batch) bool { return b.key != 0 }) {
			b.Queue(lockRetention, int64(retentionLock))
		}
		onlyMessages := len(c.messages) == len(batches)
		b.Queue(lockFanOut, at, c.partitions(), c.endpointKeys(), claimLock, onlyMessages).Query(func(rows pgx.Rows) error {
			return readLocked(rows, batches)
		})
		switch {
		case len(c.events) > 0:
			b.Queue(insertEvents, c.insertArgs(at, token)...).Query(func(rows pgx.Rows) error {
				return readLeased(rows, batches, token)
			})
		case len(c.messages) > 0:
			b.Queue(moveOnly, c.offsetArgs(at)...)
		}
		queueKeys(b, at, batches)
		for _, r := range c.rejected {
			b.Queue(insertRejected, at, r.Topic, r.Partition, r.Offset, r.Reason)
		}
	})
}

// readLocked notes when the transaction began, and the batches whose messages are refused: those that begin after the offset.
func readLocked(rows pgx.Rows, batches []*batch) error {
	var (
		at        time.Time
		partition *int
		next      *int64
	)
	offsets := map[int]int64{}
	_, err := pgx.ForEachRow(rows, []any{&at, &partition, &next, nil, nil}, func() error {
		if partition != nil {
			offsets[*partition] = *next
		}
		return nil
	})
	for _, b := range batches {
		if b.storedAt = at; b.messages != nil {
			next, known := offsets[b.messages.Partition]
			b.beyondStored = !known || b.messages.First > next
		}
	}
	return err
}

// readLeased gives each batch the rows of its events that are leased.
func readLeased(rows pgx.Rows, batches []*batch, token string) error {
	leased := map[DeliveryID]struct{}{}
	var id DeliveryID
	_, err := pgx.ForEachRow(rows, []any{&id.TenantID, &id.EventID, &id.KeyID}, func() error {
		leased[id] = struct{}{}
		return nil
	})
	for _, b := range batches {
		if b.lease != nil {
			b.leased, b.token = leased, token
		}
	}
	return err
}

// notNil keeps an empty value from becoming NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
