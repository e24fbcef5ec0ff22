package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// floor are the running programs of the floor. Its brands are the addresses of its endpoints.
type floor struct {
	*fixture.Platform

	tenants []tenant
}

// newFloor starts the floor on the servers of the platform.
func newFloor(b *testing.B, p *platform, urls []string) *floor {
	b.Helper()
	config := p.Config
	config.Name = "floor_" + p.Config.Name
	f := &floor{Platform: &fixture.Platform{Config: config, Env: map[string]string{}}}
	database := fixture.CreateDatabase(b, f.Database("events"), func(url string) error {
		_, err := fixture.Connect(b, url).Exec(b.Context(), floorSchema)
		return err
	})
	s := floorServers{Database: database, Redis: config.RedisURL, Broker: config.KafkaBrokers[0], Topic: config.Name}
	createFloorTopic(b, s)
	s.Orders = f.launch(b, s, "orders")
	f.Env["GIFTING_URL"] = "http://" + f.launch(b, s, "gateway")
	f.launch(b, s, "events")
	f.launch(b, s, "webhook")
	for i, url := range urls {
		f.tenants = append(f.tenants, tenant{Tenant: fixture.Tenant{Brand: url}, keys: fixture.KeyringOf(fmt.Sprint("key-", i))})
	}
	return f
}

func createFloorTopic(b *testing.B, s floorServers) {
	b.Helper()
	client := &kafka.Client{Addr: kafka.TCP(s.Broker)}
	made, err := client.CreateTopics(b.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: s.Topic, NumPartitions: 1, ReplicationFactor: 1}},
	})
	require.NoError(b, err)
	require.NoError(b, made.Errors[s.Topic])
	b.Cleanup(func() {
		_, err := client.DeleteTopics(context.WithoutCancel(b.Context()), &kafka.DeleteTopicsRequest{Topics: []string{s.Topic}})
		require.NoError(b, err)
	})
}

// launch starts a program of the floor and returns its address.
func (f *floor) launch(b *testing.B, s floorServers, name string) (addr string) {
	b.Helper()
	servers, err := json.Marshal(s)
	require.NoError(b, err)
	pid, addr := fixture.Again(b, floorVariable+"="+string(servers), name)
	f.Running = append(f.Running, &fixture.Program{Name: name, PID: pid})
	return addr
}

// recordChanges writes outbox rows, as that of the platform does.
func (f *floor) recordChanges(b *testing.B) makeChange {
	b.Helper()
	pool := f.Pool(b, "events", connections)
	wake := floorWaker(context.WithoutCancel(b.Context()), pool)
	return func(ctx context.Context, of tenant) (string, error) {
		id := uuid.NewString()
		_, err := pool.Exec(ctx, floorAppend, id, of.Brand, fmt.Appendf(nil, `{"id":%q,"text":%q}`, id, text))
		wake()
		return id, err
	}
}

// acceptOrders places orders through the gateway.
func (f *floor) acceptOrders(b *testing.B) makeChange {
	b.Helper()
	return acceptBy(f.NewClients(b))
}
