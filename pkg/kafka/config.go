package kafka

import (
	"errors"
	"fmt"
	"net"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/settings"
)

// Config says where Kafka is and how to connect to it. Its fields are filled from the environment by the program that starts.
type Config struct {
	// Brokers are host:port addresses to connect to first; they name the other brokers.
	Brokers []string `env:"BROKERS,required" check:"hostports" doc:"Brokers to connect to first; they report the others."`
	// ClientID is what the brokers call this program in their logs, metrics and quotas. It may be empty.
	ClientID string `env:"CLIENT_ID" doc:"Name of this program in the logs, metrics and quotas of the brokers."`
	// TLS and SASL secure the connections; either may be empty.
	TLS  TLSConfig  `envPrefix:"TLS_"`
	SASL SASLConfig `envPrefix:"SASL_"`
}

// Header is one header of a message: a key and an uninterpreted value.
type Header = kafkago.Header

// Message is one message. A caller of Publish sets Key, Value and Headers; Publish and a consumer set the other fields.
type Message struct {
	// Key decides the partition and so the order. It must not be empty.
	Key     []byte
	Value   []byte
	Headers []Header

	Partition int
	Offset    int64
	// Time is when the message was given to Publish, by the clock of this host unless the caller sets it.
	Time time.Time
}

// metadataAge bounds how long a moved partition leader goes unnoticed if no request fails: after an error the next one begins with
// fresh metadata. An idle transport requests metadata as often.
const metadataAge = 10 * time.Second

// TLSConfig says how connections are encrypted. Changed files count for new connections, without a restart.
type TLSConfig struct {
	Enabled    bool   `env:"ENABLED" doc:"Connect to the brokers with TLS."`
	CAFile     string `env:"CA_FILE" doc:"PEM file of the authorities that sign the certificates of the brokers; empty: the authorities of the operating system."`
	CertFile   string `env:"CERT_FILE" doc:"PEM file of the client's certificate, followed by its intermediates, for mutual TLS."`
	KeyFile    string `env:"KEY_FILE" doc:"PEM file of the client certificate's private key."`
	ServerName string `env:"SERVER_NAME" doc:"Name in the certificates of the brokers if it is not the host of their addresses."`
}

// The mechanisms of a login.
const (
	plainText   = "PLAIN"
	scramSHA256 = "SCRAM-SHA-256"
	scramSHA512 = "SCRAM-SHA-512"
)

// SASLConfig is a login with a password.
type SASLConfig struct {
	Mechanism string `env:"MECHANISM" check:"oneof=PLAIN|SCRAM-SHA-256|SCRAM-SHA-512" doc:"Mechanism with which the program logs in to the brokers; empty: it does not use a password."`
	User      string `env:"USER" doc:"User of the login."`
	Password  string `env:"PASSWORD" secret:"true" doc:"Password of the login. Beyond loopback it needs TLS."`
}

var (
	errTLSOff    = errors.New("is not true, so the other settings of TLS would not be used")
	errPair      = errors.New("is not set, and a client certificate needs both certificate and key")
	errLogin     = errors.New("is not set, and a login needs mechanism, user and password")
	errClearText = errors.New("needs TLS: passwords are sent without it on loopback addresses only")
	errMechanism = errors.New("unknown mechanism")
)

// Validate refuses settings that contradict each other. It implements the check of package settings.
func (c Config) Validate() error {
	return errors.Join(c.TLS.validate(), c.SASL.validate(), c.validatePassword())
}

func (t TLSConfig) validate() error {
	switch {
	case !t.Enabled && t != TLSConfig{}:
		return settings.Invalid("KAFKA_TLS_ENABLED", errTLSOff)
	case t.CertFile == "" && t.KeyFile != "":
		return settings.Invalid("KAFKA_TLS_CERT_FILE", errPair)
	case t.CertFile != "" && t.KeyFile == "":
		return settings.Invalid("KAFKA_TLS_KEY_FILE", errPair)
	}
	return nil
}

func (s SASLConfig) validate() error {
	if s == (SASLConfig{}) {
		return nil
	}
	var errs []error
	for _, part := range []struct{ setting, value string }{
		{"KAFKA_SASL_MECHANISM", s.Mechanism}, {"KAFKA_SASL_USER", s.User}, {"KAFKA_SASL_PASSWORD", s.Password},
	} {
		if part.value == "" {
			errs = append(errs, settings.Invalid(part.setting, errLogin))
		}
	}
	return errors.Join(errs...)
}

// validatePassword also covers SCRAM: without TLS, whoever listens can guess its password offline, and take the connection over.
func (c Config) validatePassword() error {
	if c.SASL.Password == "" || c.TLS.Enabled || c.onLoopback() {
		return nil
	}
	return settings.Invalid("KAFKA_SASL_PASSWORD", errClearText)
}

// onLoopback reports whether all brokers are on this machine.
func (c Config) onLoopback() bool {
	for _, broker := range c.Brokers {
		if host, _, err := net.SplitHostPort(broker); err != nil || !netguard.IsLoopback(host) {
			return false
		}
	}
	return true
}

// mechanism returns nil without a login.
func (s SASLConfig) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "":
		return nil, nil //nolint:nilnil // No login is not an error.
	case plainText:
		return plain.Mechanism{Username: s.User, Password: s.Password}, nil
	case scramSHA256:
		return scram.Mechanism(scram.SHA256, s.User, s.Password)
	case scramSHA512:
		return scram.Mechanism(scram.SHA512, s.User, s.Password)
	default:
		return nil, fmt.Errorf("%w: %q", errMechanism, s.Mechanism)
	}
}
