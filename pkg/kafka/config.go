package kafka

import (
	"net"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Config says where Kafka is. Its fields are filled from the environment by the program that starts.
type Config struct {
	// Brokers are host:port addresses to begin with; the others are learned from them.
	Brokers []string `env:"BROKERS,required" check:"hostports" doc:"Brokers to begin with; the others are learned from them."`
	// ClientID is what the brokers call this program in their logs, metrics and quotas. It may be empty.
	ClientID string `env:"CLIENT_ID" doc:"What the brokers call this program in their logs, metrics and quotas."`
}

// Header is one header of a message: a key and an uninterpreted value.
type Header = kafkago.Header

// Message is one message. A producer sets Key, Value and Headers; the rest is known only of a message that was read.
type Message struct {
	// Key decides the partition and so the order. It must not be empty.
	Key     []byte
	Value   []byte
	Headers []Header

	Partition int
	Offset    int64
	// Time is when the message was given to Publish.
	Time time.Time
}

const (
	dialTimeout = 3 * time.Second
	// metadataAge bounds how long a moved partition leader goes unnoticed.
	// Only one topic is asked for, so that asking often stays cheap.
	metadataAge = 2 * time.Second
)

func (c Config) address() net.Addr { return kafkago.TCP(c.Brokers...) }

// transport makes connections that know about one topic and no other.
func (c Config) transport(topic string) *kafkago.Transport {
	return &kafkago.Transport{
		ClientID:       c.ClientID,
		DialTimeout:    dialTimeout,
		MetadataTTL:    metadataAge,
		MetadataTopics: []string{topic},
	}
}
