// Package local runs the whole platform in one process on one machine: PostgreSQL, Redis and Kafka, every service and
// the gateway on their own loopback ports over real gRPC, and a demo tenant.
//
// # Contract
//
// Everything is stored below Config.Dir and survives a restart, also after kill -9. Stop ends what Start started, in
// reverse order, and leaves servers that were configured by address running. Start returns when a first order can be placed.
// It writes demo.env, the addresses and keys of the demo for a shell, giftingctl.yaml, the contexts of giftingctl,
// programs/<name>.env, in which the commands of a program run, and stack.log, the log of all parts.
//
// The programs authenticate each other with certificates of the stack's own authority, in the folder tls.
//
// It is for development on one machine only: the authority's key is stored with the certificates, webhooks may go to loopback
// addresses, and the services use a superuser's database login.
package local

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"

	"github.com/partnergifting/platform/pkg/settings"
)

// Config of the stack. The zero value of every field is usable.
type Config struct {
	Dir string `env:"LOCAL_DIR" envDefault:".local" doc:"Folder for data, secrets, log and demo.env."`
	// PortBase is the first port of the stack; zero means 8080.
	PortBase int
	// Name lets several stacks share servers.
	Name string `env:"LOCAL_NAME" envDefault:"gifting" doc:"Prefix for the names of databases, topic and consumer groups."`

	// PostgresURL, RedisURL and KafkaBrokers name running servers. For each empty one a server is started.
	PostgresURL  string   `env:"POSTGRES_URL" check:"url=postgres|postgresql" secret:"true" doc:"URL of a PostgreSQL to use, with a superuser; empty: one is started."`
	RedisURL     string   `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"URL of a Redis to use; empty: one is started."`
	KafkaBrokers []string `env:"KAFKA_BROKERS" check:"hostports" doc:"host:port of the Kafka brokers to use; empty: one is started."`
	// OwnServers are the URLs of further PostgreSQL servers, by the database that each of them has alone.
	OwnServers map[string]string

	// Cells are the letters of further cells, each with databases, a topic and programs of its own.
	Cells []string

	// FewPictures places the demo with few pictures: tests with the race detector spend most of the start on them.
	FewPictures bool

	// Out receives messages for the user. Nil discards them.
	Out io.Writer
}

const defaultPortBase = 8080

// Offsets of the ports that do not belong to a program; those of the programs are in package programs.
const (
	inboxPort    = 20
	postgresPort = 30
	redisPort    = 31
	kafkaPort    = 32

	// PortSpan is the number of ports of a stack with one cell, from its first port. Those of further cells follow.
	PortSpan = 33
	cellSpan = 20

	// portsEnd follows the last port.
	portsEnd = 65536
)

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	cellForm = regexp.MustCompile(`^[b-z]$`)

	errName     = errors.New("name must be lower-case letters, digits and underscores")
	errPortBase = errors.New("port base must leave room for all ports")
	errCells    = errors.New("cells must be different letters from b to z")
)

// withDefaults fills the empty fields and checks the others.
func (c Config) withDefaults() (Config, error) {
	if c.PortBase == 0 {
		c.PortBase = defaultPortBase
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if err := settings.Defaults(&c); err != nil {
		return c, err
	}
	if !nameForm.MatchString(c.Name) {
		return c, fmt.Errorf("%w: %q", errName, c.Name)
	}
	if c.PortBase < 1 || c.PortBase+c.Ports() > portsEnd {
		return c, fmt.Errorf("%w: %d", errPortBase, c.PortBase)
	}
	for i, letter := range c.Cells {
		if !cellForm.MatchString(letter) || slices.Contains(c.Cells[:i], letter) {
			return c, fmt.Errorf("%w: %q", errCells, c.Cells)
		}
	}
	return c, nil
}

// Ports is the number of ports of the stack.
func (c Config) Ports() int { return PortSpan + cellSpan*len(c.Cells) }

// cellName is the Name from which the names of a further cell's databases, topic and groups are made.
func (c Config) cellName(letter string) string { return c.Name + "_" + letter }

// Topic is the Kafka topic of changes.
func (c Config) Topic() string { return c.Name + ".changes.v1" }

// groups are the consumer groups of the topic.
func (c Config) groups() (feed, webhook string) { return c.Name + "-feed", c.Name + "-webhook" }

func (c Config) addr(offset int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.PortBase+offset))
}

// origin is the address of the gateway, which has the first port.
func (c Config) origin() string { return "http://" + c.addr(0) }

func (c Config) publicURL() string { return c.origin() + "/api/public/v1" }

func (c Config) consoleURL() string { return c.origin() + "/sandbox" }

func (c Config) inboxURL() string { return "http://" + c.addr(inboxPort) }
