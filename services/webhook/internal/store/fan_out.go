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
	// BrandID is that of the event's record; empty if it is not known.
	BrandID string
	Body    []byte
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
	// InFlight is how many rows the caller has of an endpoint that it wants to send to, without the new ones. Share is how many
	// rows of one may be leased, over all instances.
	InFlight map[Endpoint]int
	Share    int
	// Deliveries are those that the caller wants to send.
	Deliveries map[DeliveryID]struct{}
}

// FannedOut is the result of storing deliveries.
type FannedOut struct {
	// Leased are the deliveries that the caller must send, or release.
	Leased []Delivery
	// Due are the endpoints of the others.
	Due []Due
}

// Rejected is a message that is not a valid change.
type Rejected struct {
	Topic     string
	Partition int
	Offset    int64
	Reason    string
	Value     []byte
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
WITH locked AS MATERIALIZED (
  SELECT p.partition, o.next_offset
    FROM (SELECT partition FROM unnest($2::int[]) AS u (partition) ORDER BY partition) p
   CROSS JOIN LATERAL (` + offsetOf("p.partition", "next_offset") + ` FOR UPDATE) o
), taken AS MATERIALIZED (
  SELECT k.key_id, pg_try_advisory_xact_lock($4::int, k.key_id) AS got FROM unnest($3::int[]) AS k (key_id)
), noted AS MATERIALIZED (
  SELECT set_config('fan_out.locked', coalesce(array_agg(key_id) FILTER (WHERE got), '{}')::text, true),
         CASE WHEN $5 THEN ` + asyncCommit + ` END
    FROM taken
)
SELECT ` + now + `, NULL, NULL FROM noted UNION ALL SELECT ` + now + `, partition, next_offset FROM locked`

	// The offset of a partition moves unless its messages begin after it. It never moves back.
	moveOffsets = `UPDATE fan_out_offsets o
   SET next_offset = m.next, last_id = m.last_id, last_time = m.last_time
  FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[])
    AS m (partition, first, next, last_id, last_time)
 CROSS JOIN LATERAL (` + offsetOf("m.partition", "ctid") + `) locked
 WHERE o.ctid = locked.ctid AND m.first <= o.next_offset AND o.next_offset < m.next`
)

// An event that is already stored has been fanned out. It gets no further deliveries, even if more keys subscribe now. An event of
// messages that begin after the stored offset is not stored. The rows that the caller wants to send at once are leased to it, as
// many of an endpoint as a claim would lease.
var insertEvents = `
WITH fresh AS (
  INSERT INTO events (tenant_id, event_id, type, body, traceparent, created_at, brand_id)
  SELECT e.tenant_id, e.event_id, e.type, e.body, e.traceparent, ` + now + `, e.brand_id
    FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::bigint[], $9::uuid[])
      AS e (tenant_id, event_id, type, body, traceparent, partition, next, brand_id)
   WHERE e.next < 0 OR (` + offsetOf("e.partition", "next_offset") + `) >= e.next
  ON CONFLICT (tenant_id, event_id) DO NOTHING
  RETURNING tenant_id, event_id
), endpoint AS MATERIALIZED (
  SELECT w.tenant_id, w.key_id, $18 - w.in_flight - others.leased AS free
    FROM unnest($14::uuid[], $15::int[], $16::int[]) AS w (tenant_id, key_id, in_flight)
   CROSS JOIN LATERAL (` + leasedByOthers("w", "$17", "$18") + `) others
   WHERE w.key_id = ANY (nullif(current_setting('fan_out.locked', true), '')::int[])
     AND EXISTS (SELECT FROM senders WHERE id = $17)
     AND NOT EXISTS (
       SELECT FROM pauses p WHERE p.tenant_id = w.tenant_id AND p.key_id = w.key_id AND p.until > ` + now + `)
), delivery AS (
  SELECT d.tenant_id, d.event_id, d.key_id,
         d.wanted AND row_number() OVER (PARTITION BY d.tenant_id, d.key_id, d.wanted ORDER BY d.n) <= coalesce(endpoint.free, 0) AS leased
    FROM unnest($10::uuid[], $11::uuid[], $12::int[], $13::bool[])
         WITH ORDINALITY AS d (tenant_id, event_id, key_id, wanted, n)
    JOIN fresh ON fresh.tenant_id = d.tenant_id AND fresh.event_id = d.event_id
    LEFT JOIN endpoint ON endpoint.tenant_id = d.tenant_id AND endpoint.key_id = d.key_id
), stored AS (
  INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at, lease_token, leased_by)
  SELECT tenant_id, event_id, key_id, CASE WHEN leased THEN ` + now + ` + $19::interval ELSE ` + now + ` END, ` + now + `,
         CASE WHEN leased THEN $20::uuid END, CASE WHEN leased THEN $17 ELSE 0 END
    FROM delivery
  ON CONFLICT (tenant_id, event_id, key_id) DO NOTHING
  RETURNING tenant_id, event_id, key_id, lease_token
)
SELECT tenant_id, event_id, key_id FROM stored WHERE lease_token IS NOT NULL`

const insertRejected = `
INSERT INTO rejected_messages (topic, partition, "offset", reason, value, rejected_at)
VALUES ($2, $3, $4, $5, $6, ` + now + `)
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
	refused  bool
	// storedAt is when the transaction that stored it began, and leased are the rows that it leased, under the token.
	storedAt time.Time
	leased   map[DeliveryID]struct{}
	token    string
}

// FanOut stores the events with one pending delivery per key, due now, and returns their endpoints. Events that are already
// stored have no effect.
func (s *Store) FanOut(ctx context.Context, events []Event, rejected []Rejected) ([]Due, error) {
	done, err := s.store(ctx, &batch{events: events, rejected: rejected})
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
	if err == nil && b.refused {
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
				done.Leased = append(done.Leased, Delivery{DeliveryID: id, Body: e.Body, Token: b.token, TraceParent: e.TraceParent})
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
		var now, later []*batch
		has := map[int]bool{}
		for _, b := range batches {
			if b.messages != nil && has[b.messages.Partition] {
				later = append(later, b)
				continue
			}
			if b.messages != nil {
				has[b.messages.Partition] = true
			}
			now = append(now, b)
		}
		if err := s.fanOutInOneTx(ctx, now); err != nil {
			return err
		}
		batches = later
	}
	return nil
}

func (s *Store) fanOutInOneTx(ctx context.Context, batches []*batch) error {
	c := columnsOf(batches)
	at, token := s.nowOverride(), uuid.NewString()
	return postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		if slices.ContainsFunc(batches, func(b *batch) bool { return b.key != 0 }) {
			b.Queue(holdRetention, int64(retentionLock))
		}
		partitions := postgres.Column(c.moved, func(m Messages) int { return m.Partition })
		b.Queue(lockFanOut, at, partitions, c.endpointKeys(), claimLock, len(c.moved) == len(batches)).Query(func(rows pgx.Rows) error {
			return readLocked(rows, batches)
		})
		if len(c.moved) > 0 {
			b.Queue(moveOffsets, partitions,
				postgres.Column(c.moved, func(m Messages) int64 { return m.First }),
				postgres.Column(c.moved, func(m Messages) int64 { return m.Next }),
				postgres.Column(c.moved, func(m Messages) string { return m.LastID }),
				postgres.Column(c.moved, func(m Messages) time.Time { return m.LastTime }))
		}
		if len(c.events) > 0 {
			b.Queue(insertEvents, c.insert(at, token)...).Query(func(rows pgx.Rows) error {
				return readLeased(rows, batches, token)
			})
		}
		queueKeys(b, at, batches)
		for _, r := range c.rejected {
			b.Queue(insertRejected, at, r.Topic, r.Partition, r.Offset, r.Reason, notNil(r.Value))
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
	_, err := pgx.ForEachRow(rows, []any{&at, &partition, &next}, func() error {
		if partition != nil {
			offsets[*partition] = *next
		}
		return nil
	})
	for _, b := range batches {
		if b.storedAt = at; b.messages != nil {
			next, known := offsets[b.messages.Partition]
			b.refused = !known || b.messages.First > next
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
