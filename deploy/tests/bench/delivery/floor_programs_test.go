package delivery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"
)

// The floor is what the path of an order costs at least: four minimal programs with the same hops, each a process of its own on
// the same servers. They commit what they receive before they pass it on, as the platform does. They have no TLS, gRPC, telemetry,
// validation, encryption and order of events, and they do not survive an error.

const (
	floorSchema = `
CREATE TABLE orders (id uuid PRIMARY KEY, details bytea NOT NULL);
CREATE TABLE answers (key text PRIMARY KEY, answer bytea NOT NULL);
CREATE TABLE outbox (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, subject_id uuid NOT NULL, endpoint text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(), data bytea NOT NULL);
CREATE TABLE feed (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, subject_id uuid NOT NULL, recorded_at timestamptz NOT NULL,
  data bytea NOT NULL);
CREATE TABLE deliveries (subject_id uuid PRIMARY KEY, endpoint text NOT NULL, data bytea NOT NULL, delivered_at timestamptz);
CREATE TABLE offsets (reader text PRIMARY KEY, next bigint NOT NULL);
INSERT INTO offsets VALUES ('feed', 0), ('webhook', 0)`

	floorAppend = `INSERT INTO outbox (subject_id, endpoint, data) VALUES ($1, $2, $3)`
	floorNotify = `SELECT pg_notify('floor', '')`
	floorRead   = `SELECT id, subject_id::text, endpoint, recorded_at, data FROM outbox ORDER BY id LIMIT $1`

	// floorBatch is how many changes are read together at most.
	floorBatch = 500
)

// floorServers are the servers that the programs use.
type floorServers struct{ Database, Redis, Broker, Topic, Orders string }

// floorVariable makes a process of this program one of the floor. It holds the floorServers as JSON.
const floorVariable = "GIFTING_BENCH_FLOOR"

// runFloor runs the program with the name until its input ends. It writes a line with its address, if it has one, when it is ready.
func runFloor(name string) error {
	ctx := context.Background()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	var s floorServers
	if err := json.Unmarshal([]byte(os.Getenv(floorVariable)), &s); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	switch name {
	case "gateway":
		err = floorServe(ctx, s.gateway())
	case "orders":
		err = floorServe(ctx, floorOrders(ctx, pool))
	case "events":
		err = s.events(ctx, pool)
	case "webhook":
		err = s.webhook(ctx, pool)
	}
	return err
}

func floorServe(ctx context.Context, handle http.HandlerFunc) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: handle, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

var floorLimit = redis.NewScript(`local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end
return n`)

// gateway counts the request of the key and forwards it.
func (s floorServers) gateway() http.HandlerFunc {
	opts, err := redis.ParseURL(s.Redis)
	if err != nil {
		panic(err)
	}
	limits := redis.NewClient(opts)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	return func(w http.ResponseWriter, req *http.Request) {
		err := floorLimit.Run(req.Context(), limits, []string{req.Header.Get("Authorization")}).Err()
		if err == nil {
			err = floorForward(w, req, client, "http://"+s.Orders)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

func floorForward(w http.ResponseWriter, req *http.Request, client *http.Client, to string) error {
	next, err := http.NewRequestWithContext(req.Context(), req.Method, to, req.Body)
	if err != nil {
		return err
	}
	next.ContentLength = req.ContentLength
	next.Header.Set("Idempotency-Key", req.Header.Get("Idempotency-Key"))
	res, err := client.Do(next) //nolint:gosec // The address is that of orders.
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	w.WriteHeader(res.StatusCode)
	_, err = io.Copy(w, res.Body)
	return err
}

// floorOrders stores an order, its event and the answer in one transaction.
func floorOrders(ctx context.Context, pool *pgxpool.Pool) http.HandlerFunc {
	wake := floorWaker(ctx, pool)
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var order struct{ BrandID string } // It is the address of the endpoint.
		if err == nil {
			err = json.Unmarshal(body, &order)
		}
		id := uuid.Must(uuid.NewV7()).String()
		answer := fmt.Appendf(nil, `{"id":%q,"reference":%q,"request":%s}`, id, id[:8], body)
		if err == nil {
			var batch pgx.Batch
			batch.Queue(`INSERT INTO answers (key, answer) VALUES ($1, $2)`, req.Header.Get("Idempotency-Key"), answer)
			batch.Queue(`INSERT INTO orders (id, details) VALUES ($1, $2)`, id, body)
			batch.Queue(floorAppend, id, order.BrandID, answer)
			err = pool.SendBatch(req.Context(), &batch).Close()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		wake()
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(answer)
	}
}

// floorWaker returns a function that wakes the relay. Calls during a notification are covered by the next one.
func floorWaker(ctx context.Context, pool *pgxpool.Pool) (wake func()) {
	due := make(chan struct{}, 1)
	go func() {
		for range due {
			if _, err := pool.Exec(ctx, floorNotify); err != nil {
				return
			}
		}
	}()
	return func() {
		select {
		case due <- struct{}{}:
		default:
		}
	}
}

// floorGo ends the program if f fails.
func floorGo(f func() error) {
	go func() {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "floor:", err)
			os.Exit(1)
		}
	}()
}

// events publishes the outbox and stores the feed.
func (s floorServers) events(ctx context.Context, pool *pgxpool.Pool) error {
	floorGo(func() error { return s.relay(ctx, pool) })
	floorGo(func() error {
		return s.store(ctx, pool, "feed", func(b *pgx.Batch, all []kafka.Message) {
			ids, times, _, data := floorColumns(all)
			b.Queue(`INSERT INTO feed (subject_id, recorded_at, data) SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::bytea[])`,
				ids, times, data)
		}, func(kafka.Message) {})
	})
	fmt.Println()
	select {}
}

// floorColumns are the values of the messages.
func floorColumns(all []kafka.Message) (ids []string, times []time.Time, endpoints []string, data [][]byte) {
	for _, m := range all {
		recorded, _ := strconv.ParseInt(string(m.Headers[1].Value), 10, 64)
		ids, times = append(ids, string(m.Key)), append(times, time.UnixMicro(recorded))
		endpoints, data = append(endpoints, string(m.Headers[0].Value)), append(data, m.Value)
	}
	return ids, times, endpoints, data
}

func (s floorServers) relay(ctx context.Context, pool *pgxpool.Pool) error {
	listener, err := pgx.Connect(ctx, s.Database)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close(context.WithoutCancel(ctx)) }()
	if _, err := listener.Exec(ctx, "LISTEN floor"); err != nil {
		return err
	}
	client := &kafka.Client{Addr: kafka.TCP(s.Broker)}
	for {
		rows, err := pool.Query(ctx, floorRead, floorBatch)
		if err != nil {
			return err
		}
		var read []int64
		var records []kafka.Record
		var id int64
		var subject, endpoint string
		var recorded time.Time
		var data []byte
		if _, err := pgx.ForEachRow(rows, []any{&id, &subject, &endpoint, &recorded, &data}, func() error {
			read = append(read, id)
			records = append(records, kafka.Record{
				Key: kafka.NewBytes([]byte(subject)), Value: kafka.NewBytes(bytes.Clone(data)), Headers: []kafka.Header{
					{Key: "endpoint", Value: []byte(endpoint)}, {Key: "recorded", Value: strconv.AppendInt(nil, recorded.UnixMicro(), 10)},
				},
			})
			return nil
		}); err != nil {
			return err
		}
		if len(read) == 0 {
			if _, err := listener.WaitForNotification(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.produce(ctx, client, records); err != nil {
			return err
		}
		if _, err := pool.Exec(ctx, `DELETE FROM outbox WHERE id = ANY ($1)`, read); err != nil {
			return err
		}
	}
}

func (s floorServers) produce(ctx context.Context, client *kafka.Client, records []kafka.Record) error {
	res, err := client.Produce(ctx, &kafka.ProduceRequest{
		Topic: s.Topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err != nil {
		return err
	}
	return res.Error
}

// store reads the topic. It commits what queue makes of the messages that have been fetched until then, with their offset, and
// calls stored for each.
func (s floorServers) store(
	ctx context.Context, pool *pgxpool.Pool, name string, queue func(b *pgx.Batch, all []kafka.Message), stored func(m kafka.Message),
) error {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{s.Broker}, Topic: s.Topic, MinBytes: 1, MaxBytes: 1 << 20})
	fetched := make(chan kafka.Message, floorBatch)
	floorGo(func() error {
		for {
			m, err := reader.ReadMessage(ctx)
			if err != nil {
				return err
			}
			fetched <- m
		}
	})
	for first := range fetched {
		all := floorGather(first, fetched)
		var batch pgx.Batch
		queue(&batch, all)
		batch.Queue(`UPDATE offsets SET next = $2 WHERE reader = $1`, name, all[len(all)-1].Offset+1)
		if err := pool.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}
		for _, m := range all {
			stored(m)
		}
	}
	return nil
}

// floorGather returns the first value and those that are there already.
func floorGather[T any](first T, from <-chan T) []T {
	all := []T{first}
	for len(all) < floorBatch {
		select {
		case next := <-from:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

// webhook stores deliveries, sends them and stores that they have arrived.
func (s floorServers) webhook(ctx context.Context, pool *pgxpool.Pool) error {
	due, done := make(chan kafka.Message, floorBatch), make(chan string, floorBatch)
	floorGo(func() error {
		return s.store(ctx, pool, "webhook", func(b *pgx.Batch, all []kafka.Message) {
			ids, _, endpoints, data := floorColumns(all)
			b.Queue(`INSERT INTO deliveries (subject_id, endpoint, data) SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[])`,
				ids, endpoints, data)
		}, func(m kafka.Message) { due <- m })
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	for range senders {
		floorGo(func() error {
			for m := range due {
				body := fmt.Appendf(nil, `{"id":%q,"type":"order.created","data":%s}`, m.Key, m.Value)
				if err := post(ctx, client, string(m.Headers[0].Value), "secret", body); err != nil {
					return err
				}
				done <- string(m.Key)
			}
			return nil
		})
	}
	floorGo(func() error {
		for first := range done {
			if _, err := pool.Exec(ctx, `UPDATE deliveries SET delivered_at = now() WHERE subject_id = ANY ($1::uuid[])`,
				floorGather(first, done)); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println()
	select {}
}
