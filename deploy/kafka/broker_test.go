package kafka_test

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha512"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/kafka"
)

// jarsDir is where `make test` keeps the jars, so that they are fetched once.
const jarsDir = "../../.local/kafka"

// secured is an Apache Kafka with two listeners that need TLS: one also needs a login, the other one a client certificate. Its
// authorizer gives the users the permissions of the page, and everything to the plain listener.
type secured struct {
	signer             identitytest.Authority
	ca                 string
	plain, login, cert string
}

// startSecured skips the test where Apache Kafka cannot run.
func startSecured(t *testing.T) secured {
	t.Helper()
	k := secured{signer: identitytest.New(t)}
	dir := t.TempDir()
	k.ca = filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(k.ca, k.signer.Cert, 0o600))
	server := k.issue(t, authority.Request{Name: "broker", Hosts: []string{"127.0.0.1"}})
	keystore := filepath.Join(dir, "broker.pem")
	require.NoError(t, os.WriteFile(keystore, append(server.Key, server.Cert...), 0o600))

	login, cert := freePort(t), freePort(t)
	var log strings.Builder
	instance, err := deps.StartKafka(t.Context(), deps.KafkaConfig{
		Dir: filepath.Join(dir, "kafka"), Port: freePort(t), PreferApache: true, JarsDir: jarsDir,
		Log:       slog.New(slog.NewTextHandler(&log, nil)),
		Listeners: []deps.Listener{{Protocol: "SASL_SSL", Port: login}, {Protocol: "SSL", Port: cert}},
		Properties: []string{
			"ssl.keystore.type=PEM", "ssl.keystore.location=" + keystore,
			"ssl.truststore.type=PEM", "ssl.truststore.location=" + k.ca,
			"listener.name.ssl.ssl.client.auth=required",
			"sasl.enabled.mechanisms=SCRAM-SHA-512",
			"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
			"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users=User:ANONYMOUS",
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, instance.Stop(context.WithoutCancel(t.Context()))) })
	if instance.Kind != deps.Apache {
		t.Skipf("Apache Kafka is not available here: %s", &log)
	}
	k.plain = instance.Address
	k.login, k.cert = fmt.Sprintf("127.0.0.1:%d", login), fmt.Sprintf("127.0.0.1:%d", cert)
	return k
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := deps.FreePort(t.Context())
	require.NoError(t, err)
	return port
}

func (k secured) issue(t *testing.T, r authority.Request) authority.Pair {
	t.Helper()
	r.From, r.Until = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	pair, err := k.signer.Issue(r)
	require.NoError(t, err)
	return pair
}

func (k secured) admin() *kafkago.Client { return &kafkago.Client{Addr: kafkago.TCP(k.plain)} }

// withLogin makes the user and returns a configuration to log in as it.
func (k secured) withLogin(t *testing.T, user string) kafka.Config {
	t.Helper()
	const password, salt, iterations = "pässword of a user", "0123456789abcdef", 4096
	salted, err := pbkdf2.Key(sha512.New, password, []byte(salt), iterations, sha512.Size)
	require.NoError(t, err)
	res, err := k.admin().AlterUserScramCredentials(t.Context(), &kafkago.AlterUserScramCredentialsRequest{
		Upsertions: []kafkago.UserScramCredentialsUpsertion{{
			Name: user, Mechanism: kafkago.ScramMechanismSha512, Iterations: iterations, Salt: []byte(salt), SaltedPassword: salted,
		}},
	})
	require.NoError(t, err)
	require.Len(t, res.Results, 1)
	require.NoError(t, res.Results[0].Error)
	return kafka.Config{
		Brokers: []string{k.login}, ClientID: user, TLS: kafka.TLSConfig{Enabled: true, CAFile: k.ca},
		SASL: kafka.SASLConfig{Mechanism: "SCRAM-SHA-512", User: user, Password: password},
	}
}

// withCertificate returns a configuration to log in with a certificate of the user.
func (k secured) withCertificate(t *testing.T, user string) kafka.Config {
	t.Helper()
	pair, dir := k.issue(t, authority.Request{Name: user}), t.TempDir()
	cfg := kafka.Config{Brokers: []string{k.cert}, ClientID: user, TLS: kafka.TLSConfig{
		Enabled: true, CAFile: k.ca, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
	}}
	require.NoError(t, os.WriteFile(cfg.TLS.CertFile, pair.Cert, 0o600))
	require.NoError(t, os.WriteFile(cfg.TLS.KeyFile, pair.Key, 0o600))
	return cfg
}

// grant gives the permissions of the page to its users, as the listeners name them.
func (k secured) grant(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var entries []kafkago.ACLEntry
	for line := range strings.Lines(string(page)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "acls" && words[1] != "(" {
			entries = append(entries, permissions(t, words[1:])...)
		}
	}
	require.NotEmpty(t, entries)
	res, err := k.admin().CreateACLs(t.Context(), &kafkago.CreateACLsRequest{ACLs: entries})
	require.NoError(t, err)
	for _, err := range res.Errors {
		require.NoError(t, err)
	}
}

// permissions reads the options of kafka-acls.sh.
func permissions(t *testing.T, options []string) (entries []kafkago.ACLEntry) {
	t.Helper()
	of := kafkago.ACLEntry{ResourcePatternType: kafkago.PatternTypeLiteral, Host: "*", PermissionType: kafkago.ACLPermissionTypeAllow}
	var user string
	var operations []kafkago.ACLOperationType
	require.Zero(t, len(options)%2, options)
	for i := 0; i < len(options); i += 2 {
		switch value := options[i+1]; options[i] {
		case "--allow-principal":
			user = strings.TrimPrefix(value, "User:")
		case "--topic":
			of.ResourceType, of.ResourceName = kafkago.ResourceTypeTopic, value
		case "--group":
			of.ResourceType, of.ResourceName = kafkago.ResourceTypeGroup, value
		case "--operation":
			var operation kafkago.ACLOperationType
			require.NoError(t, operation.UnmarshalText([]byte(value)))
			operations = append(operations, operation)
		default:
			require.Fail(t, "unknown option", options[i])
		}
	}
	for _, operation := range operations {
		for _, principal := range []string{"User:" + user, "User:CN=" + user} {
			of.Operation, of.Principal = operation, principal
			entries = append(entries, of)
		}
	}
	return entries
}
