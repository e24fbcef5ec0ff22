// Package local runs the whole platform in one process on one machine: PostgreSQL, Redis and Kafka, every service and
// the gateway on loopback ports of their own, over real gRPC, with a demo to begin with.
//
// # Contract
//
// Everything is kept below Config.Dir and survives a restart, also one after kill -9. What was started is stopped, in
// reverse order; what was given by address is left running. Start returns when a first order can be placed. It writes
// demo.env, which a shell reads to have the addresses and keys of the demo, and stack.log, the log of all parts.
//
// The parts know each other by certificates of an authority that the stack makes for itself, in the folder tls.
//
// It is made for one machine: the authority's key beside what it signs, webhooks to loopback addresses, a superuser's database.
package local

import (
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Config of the stack. The zero value of every field is usable.
type Config struct {
	// Dir keeps data, secrets, log and demo.env: .local.
	Dir string `env:"LOCAL_DIR" envDefault:".local" doc:"Folder of data, secrets, log and demo.env."`
	// PortBase moves all ports; see the table of ports. 8080.
	PortBase int
	// Name begins the names of databases, topic and consumer groups, so that several stacks can share given servers.
	Name string `env:"LOCAL_NAME" envDefault:"gifting" doc:"Begins the names of databases, topic and consumer groups."`

	// PostgresURL, RedisURL and KafkaBrokers name servers that run already; where empty, one is started.
	PostgresURL  string   `env:"POSTGRES_URL" check:"url=postgres|postgresql" secret:"true" doc:"A superuser's URL of a PostgreSQL to use; empty: one is started."`
	RedisURL     string   `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"URL of a Redis to use; empty: one is started."`
	KafkaBrokers []string `env:"KAFKA_BROKERS" check:"hostports" doc:"host:port of Kafka brokers to use; empty: one is started."`

	// Out receives lines for whoever looks on. Nil: nobody does.
	Out io.Writer
}

const (
	defaultDir      = ".local"
	defaultName     = "gifting"
	defaultPortBase = 8080
)

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

	errName     = errors.New("name must be lower-case letters, digits and underscores")
	errPortBase = errors.New("port base must leave room for all ports")
)

func (c Config) complete() (Config, error) {
	if c.Dir == "" {
		c.Dir = defaultDir
	}
	if c.Name == "" {
		c.Name = defaultName
	}
	if c.PortBase == 0 {
		c.PortBase = defaultPortBase
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if !nameForm.MatchString(c.Name) {
		return c, fmt.Errorf("%w: %q", errName, c.Name)
	}
	if c.PortBase < 1 || c.PortBase+PortSpan > maxPort {
		return c, fmt.Errorf("%w: %d", errPortBase, c.PortBase)
	}
	return c, nil
}

// The readers of the topic.
const (
	readerFeed    = "feed"
	readerWebhook = "webhook"
)

// Topic is the Kafka topic of changes.
func (c Config) Topic() string { return c.Name + ".changes.v1" }

func (c Config) group(reader string) string { return c.Name + "-" + reader }
