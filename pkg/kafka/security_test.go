package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const (
	testUser     = "events"
	testPassword = "correct horse, battery staple"
)

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	login := SASLConfig{Mechanism: "SCRAM-SHA-512", User: testUser, Password: testPassword}
	const password = "KAFKA_SASL_PASSWORD"
	refused := func(variables ...string) []string { return variables }
	for name, tc := range map[string]struct {
		cfg     Config
		refused []string
	}{
		"nothing":                      {Config{}, nil},
		"a password over TLS":          {Config{TLS: TLSConfig{Enabled: true}, SASL: login}, nil},
		"a password on loopback":       {Config{Brokers: []string{"127.0.0.1:1", "localhost:2", "[::1]:3"}, SASL: login}, nil},
		"a password in plain text":     {Config{Brokers: []string{"127.0.0.1:1", "k1:2"}, SASL: login}, refused(password)},
		"files without TLS":            {Config{TLS: TLSConfig{CAFile: "ca"}}, refused("KAFKA_TLS_ENABLED")},
		"a certificate without a key":  {Config{TLS: TLSConfig{Enabled: true, CertFile: "c"}}, refused("KAFKA_TLS_KEY_FILE")},
		"a user only":                  {Config{SASL: SASLConfig{User: testUser}}, refused("KAFKA_SASL_MECHANISM", password)},
		"a mechanism without a secret": {Config{SASL: SASLConfig{Mechanism: "PLAIN", User: testUser}}, refused(password)},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.cfg.Validate()
			if len(tc.refused) == 0 {
				require.NoError(t, err)
			}
			for _, variable := range tc.refused {
				require.ErrorContains(t, err, settings.Prefix+variable+":")
				require.NotContains(t, err.Error(), testPassword)
			}
			_, failed := NewProducer(tc.cfg, "topic", telemetry.Discard())
			require.Equal(t, len(tc.refused) > 0 || tc.cfg.TLS.CAFile != "", failed != nil, "the files do not exist")
		})
	}
}

// secureBroker starts a broker with TLS and users, unless the options say otherwise. It returns a configuration that is
// accepted, except that it has no login.
func secureBroker(t *testing.T, signer identitytest.Authority, hosts []string, options ...kfake.Opt) Config {
	t.Helper()
	r := identitytest.Request(identity.Events)
	r.Hosts = hosts
	server := signer.Files(t, t.TempDir(), r)
	certificate, err := identity.Certificate(server.CertFile, server.KeyFile, time.Now())
	require.NoError(t, err)
	roots, err := identity.Authorities(server.CAFile)
	require.NoError(t, err)
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{*certificate}, ClientCAs: roots, ClientAuth: tls.VerifyClientCertIfGiven,
	})}, options...)...)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return Config{Brokers: cluster.ListenAddrs(), TLS: TLSConfig{Enabled: true, CAFile: server.CAFile}}
}

func withUsers() []kfake.Opt {
	options := []kfake.Opt{kfake.EnableSASL()}
	for _, mechanism := range []string{plainText, scramSHA256, scramSHA512} {
		options = append(options, kfake.Superuser(mechanism, testUser, testPassword))
	}
	return options
}

var loopbackHosts = []string{"127.0.0.1"}

func TestEveryConnectionIsEncryptedAndLoggedIn(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	for _, mechanism := range []string{plainText, scramSHA256, scramSHA512} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			cfg := secureBroker(t, signer, loopbackHosts, withUsers()...)
			cfg.SASL = SASLConfig{Mechanism: mechanism, User: testUser, Password: testPassword}
			requireUse(t, cfg)
		})
	}
	t.Run("mutual TLS", func(t *testing.T) {
		t.Parallel()
		own := signer.Config(t, identity.Events)
		cfg := secureBroker(t, signer, loopbackHosts, kfake.TLS(mutual(t, own)))
		cfg.TLS.CertFile, cfg.TLS.KeyFile = own.CertFile, own.KeyFile
		requireUse(t, cfg)
	})
	t.Run("a name in the certificate that is not the host", func(t *testing.T) {
		t.Parallel()
		cfg := secureBroker(t, signer, []string{"kafka.example"})
		cfg.TLS.ServerName = "kafka.example"
		requireUse(t, cfg)
	})
}

// mutual is the TLS of a broker that requires a certificate of every client.
func mutual(t *testing.T, own identity.Config) *tls.Config {
	t.Helper()
	certificate, err := identity.Certificate(own.CertFile, own.KeyFile, time.Now())
	require.NoError(t, err)
	roots, err := identity.Authorities(own.CAFile)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{*certificate}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert}
}

// requireUse creates a topic, writes to it and reads from it as a group.
func requireUse(t *testing.T, cfg Config) {
	t.Helper()
	const topic = "secured"
	require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: 2}))
	msgs, s := numbered(10, 3), &sink{}
	require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
	start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
	s.waitFor(t, len(msgs))
	require.Equal(t, expected(msgs), firstSeen(s.log()))
}

func TestABrokerThatRefusesOrIsRefusedIsAClearError(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	login := SASLConfig{Mechanism: scramSHA512, User: testUser, Password: testPassword}
	for name, tc := range map[string]struct {
		hosts   []string
		options []kfake.Opt
		change  func(cfg *Config)
		want    string
	}{
		"a wrong password": {loopbackHosts, withUsers(), func(cfg *Config) {
			cfg.SASL = login
			cfg.SASL.Password = "a wrong one"
		}, `login of user "events" with SCRAM-SHA-512`},
		"a mechanism that the broker does not have": {
			loopbackHosts,
			[]kfake.Opt{kfake.EnableSASL(), kfake.Superuser(plainText, testUser, testPassword)},
			func(cfg *Config) { cfg.SASL = login },
			`login of user "events" with SCRAM-SHA-512`,
		},
		"an unknown authority": {loopbackHosts, nil, func(cfg *Config) {
			cfg.TLS.CAFile = identitytest.New(t).Config(t, identity.Events).CAFile
		}, "certificate signed by unknown authority"},
		"another host": {[]string{"kafka.example"}, nil, func(*Config) {}, "127.0.0.1"},
		"no client certificate": {
			loopbackHosts,
			[]kfake.Opt{kfake.TLS(mutual(t, signer.Config(t, identity.Events)))},
			func(*Config) {},
			"certificate required",
		},
		"a login at a listener with TLS, without it": {loopbackHosts, withUsers(), func(cfg *Config) {
			cfg.TLS, cfg.SASL = TLSConfig{}, login
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := secureBroker(t, signer, tc.hosts, tc.options...)
			tc.change(&cfg)
			for what, err := range map[string]error{
				"topic":    EnsureTopic(t.Context(), cfg, TopicSettings{Name: "topic", Partitions: 1}),
				"producer": newProducer(t, cfg, "topic").Publish(t.Context(), numbered(1, 1)),
				"dial":     dialOnce(t, cfg),
			} {
				require.ErrorContains(t, err, tc.want, what)
				require.ErrorContains(t, err, "broker "+cfg.Brokers[0], what)
				require.NotContains(t, err.Error(), testPassword)
				require.NotContains(t, err.Error(), "a wrong one")
			}
		})
	}
}

func dialOnce(t *testing.T, cfg Config) error {
	t.Helper()
	cluster, err := newCluster(cfg, telemetry.Discard())
	require.NoError(t, err)
	conn, err := cluster.dial(t.Context(), "tcp", cfg.Brokers[0])
	if err == nil {
		require.NoError(t, conn.Close())
	}
	return err
}

func TestABrokerThatDoesNotAnswerTheLoginDoesNotHoldTheCaller(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	cluster, err := newCluster(Config{
		Brokers: []string{listener.Addr().String()}, SASL: SASLConfig{Mechanism: plainText, User: testUser, Password: testPassword},
	}, telemetry.Discard())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = cluster.dial(ctx, "tcp", listener.Addr().String())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestNewCertificateFilesCountForNewConnections(t *testing.T) {
	t.Parallel()
	old, renewed := identitytest.New(t), identitytest.New(t)
	own := renewed.Config(t, identity.Events)
	cfg := secureBroker(t, renewed, loopbackHosts, kfake.TLS(mutual(t, own)))
	dir := t.TempDir()
	files := old.Files(t, dir, identitytest.Request(identity.Webhook))
	cfg.TLS = TLSConfig{Enabled: true, CAFile: files.CAFile, CertFile: files.CertFile, KeyFile: files.KeyFile}
	tel := telemetrytest.New()
	cluster, err := newCluster(cfg, tel.Telemetry)
	require.NoError(t, err)
	try := func() error {
		conn, err := cluster.dial(t.Context(), "tcp", cfg.Brokers[0])
		return errors.Join(err, closeIfOpen(conn))
	}
	require.ErrorContains(t, try(), "unknown authority")

	until := time.Now().Add(30 * time.Minute).Truncate(time.Second)
	r := authority.Request{From: time.Now().Add(-time.Minute), Until: until}
	renewed.Files(t, dir, r)
	require.Eventually(t, func() bool { return try() == nil }, patience, 50*time.Millisecond)
	require.Equal(t, map[string]float64{"server=kafka": float64(until.Unix())}, tel.Values(t, "gifting.certificate.not_after"))
}

func closeIfOpen(conn net.Conn) error {
	if conn == nil {
		return nil
	}
	return conn.Close()
}

func TestAProgramDoesNotStartWithFilesThatItCannotUse(t *testing.T) {
	t.Parallel()
	own := identitytest.New(t).Config(t, identity.Events)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, tc := range map[string]struct {
		files TLSConfig
		want  string
	}{
		"no file":                  {TLSConfig{CAFile: own.CAFile + ".gone"}, ".gone"},
		"no authority":             {TLSConfig{CAFile: empty}, "holds no certificate"},
		"a key as the certificate": {TLSConfig{CertFile: own.KeyFile, KeyFile: own.KeyFile}, "certificate and key"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.files.Enabled = true
			cfg := Config{Brokers: []string{"k1:9093"}, TLS: tc.files}
			_, producer := NewProducer(cfg, "topic", telemetry.Discard())
			require.ErrorContains(t, producer, tc.want)
			_, consumer := NewConsumer(cfg, ConsumerOptions{Group: "g", Topic: "topic"}, telemetry.Discard(), (&sink{}).handle)
			require.ErrorContains(t, consumer, tc.want)
		})
	}
}

func TestPlainTextBeyondThisMachineIsLogged(t *testing.T) {
	t.Parallel()
	for broker, logged := range map[string]bool{"k1:9092": true, "127.0.0.1:9092": false} {
		tel := telemetrytest.New()
		var log strings.Builder
		tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
		_, err := NewConsumer(Config{Brokers: []string{broker}}, ConsumerOptions{Group: "g", Topic: "t"}, tel.Telemetry, (&sink{}).handle)
		require.NoError(t, err)
		require.Equal(t, logged, strings.Contains(log.String(), "plain text"), broker)
	}
}
