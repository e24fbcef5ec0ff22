package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"
)

const (
	// warmRequests is how many messages each partition of the broker gets before anything is measured, one after another. The JVM
	// compiles what has run some ten thousand times. A broker in production has long done that. Without it, a small request takes
	// twice the processor time, at the lowest rate for minutes.
	warmRequests   = 10_000
	warmPartitions = 2
	// warmCommit is how many messages are read for each commit of the offset.
	warmCommit = 10
)

// warmBroker writes and reads a topic as the platform does, and deletes it.
func warmBroker(ctx context.Context, brokers string) error {
	addresses, topic := strings.Split(brokers, ","), "warm."+rand.Text()
	client := &kafka.Client{Addr: kafka.TCP(addresses...)}
	made, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: warmPartitions, ReplicationFactor: 1}},
	})
	if err == nil {
		err = made.Errors[topic]
	}
	if err != nil {
		return fmt.Errorf("create a topic to warm up: %w", err)
	}
	work, workCtx := errgroup.WithContext(ctx)
	for partition := range warmPartitions {
		work.Go(func() error { return warmWrites(workCtx, client, topic, partition) })
		work.Go(func() error { return warmReads(workCtx, addresses, topic, partition) })
	}
	err = work.Wait()
	_, deleted := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	return errors.Join(err, deleted)
}

func warmWrites(ctx context.Context, client *kafka.Client, topic string, partition int) error {
	value := []byte(strings.Repeat("x", 700)) //nolint:mnd // As long as an order's event.
	for written := 0; written < warmRequests; {
		res, err := client.Produce(ctx, &kafka.ProduceRequest{
			Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(topic)), Value: kafka.NewBytes(value)}),
		})
		if err == nil {
			err = res.Error
		}
		switch {
		case err == nil:
			written++
		case written > 0 || !errors.Is(err, kafka.NotLeaderForPartition) || !wait(ctx): // A new partition has no leader for a moment.
			return fmt.Errorf("warm up the broker: %w", err)
		}
	}
	return nil
}

// wait returns false if ctx has ended.
func wait(ctx context.Context) bool {
	select {
	case <-time.After(100 * time.Millisecond): //nolint:mnd // Nothing depends on it.
		return true
	case <-ctx.Done():
		return false
	}
}

// warmReads reads with a group of its own for each partition, so that groups are warm too.
func warmReads(ctx context.Context, addresses []string, topic string, partition int) error {
	client := &kafka.Client{Addr: kafka.TCP(addresses...)}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: addresses, Topic: topic, Partition: partition, MinBytes: 1, MaxBytes: 1 << 20,
	})
	defer func() { _ = reader.Close() }()
	for n := range warmRequests {
		if _, err := reader.ReadMessage(ctx); err != nil {
			return fmt.Errorf("warm up the broker: %w", err)
		}
		if n%warmCommit != 0 {
			continue
		}
		_, err := client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
			GroupID: fmt.Sprintf("%s.%d", topic, partition), GenerationID: -1,
			Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: partition, Offset: int64(n)}}},
		})
		if err != nil {
			return fmt.Errorf("warm up the broker: %w", err)
		}
	}
	return nil
}
