//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/identity"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// site is a platform with two instances of each program as processes of their own, on servers that the test can stop and
// over connections that it can cut.
type site struct {
	servers
	config local.Config
	// env has the addresses and keys of the demo, of the first instances.
	env map[string]string
	// logs is the folder of the instances' logs.
	logs      string
	network   *network
	instances []*instance
	keys      tenantsv1.TenantOperationsServiceClient
}

// plan says how a site is made.
type plan struct {
	// binaries is the folder of the programs.
	binaries string
	// straight leaves the network out.
	straight bool
	// slowCommits widens the window in which a relay may go wrong.
	slowCommits bool
	logs        string
	// more are variables of all instances.
	more []string
}

// Ports of a site, in a row: those of a stack, those of the second instances, the servers, the network.
const (
	portsOfTwins   = local.PortSpan
	portsOfNetwork = 2*local.PortSpan + portsOfServers
	portsOfSite    = portsOfNetwork + 40
	metricsAbove   = 10
)

// newSite prepares the databases and the demo with a stack in this process, and starts the instances in its place.
func newSite(t *testing.T, p plan) *site {
	t.Helper()
	dir := t.TempDir()
	first, err := deps.FreeRow(t.Context(), portsOfSite)
	require.NoError(t, err)
	s := &site{logs: p.logs}
	if !p.straight {
		s.network = newNetwork(t, first+portsOfNetwork)
	}
	s.servers = startServers(t, dir, first+2*local.PortSpan, s.network)
	s.config = local.Config{
		Dir: filepath.Join(dir, "stack"), PortBase: first, Name: "faults",
		PostgresURL: s.postgres.instance.Address, RedisURL: s.redis.instance.Address,
		KafkaBrokers: []string{s.kafka.instance.Address},
	}
	stack, err := local.Start(t.Context(), s.config)
	require.NoError(t, err)
	s.env = stack.Env
	require.NoError(t, stack.Stop(t.Context()))
	if p.slowCommits {
		s.widenCommits(t)
	}
	s.instances = s.newInstances(t, p)
	t.Cleanup(func() {
		for _, i := range s.instances {
			i.end()
		}
	})
	for _, i := range s.instances {
		require.NoError(t, i.start(t.Context()))
	}
	s.keys = tenantsv1.NewTenantOperationsServiceClient(s.dial(t, "GIFTING_GRPC_TENANTS", 0))
	return s
}

// slowCommits makes each commit that records an event wait for a random time, mostly a short one, after its time of
// record is taken and before anybody sees it.
const slowCommits = `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_sleep(0.25 * power(random(), 4));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION slow_commit()`

func (s *site) widenCommits(t *testing.T) {
	t.Helper()
	for _, database := range []string{"orders", "links"} {
		_, err := s.connect(t, database).Exec(t.Context(), slowCommits)
		require.NoError(t, err)
	}
}

func (s *site) postgresHost(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(s.config.PostgresURL)
	require.NoError(t, err)
	return u.Host
}

// database is the URL of a database by way of the host.
func (s *site) database(t *testing.T, name, host string) string {
	t.Helper()
	u, err := url.Parse(s.config.PostgresURL)
	require.NoError(t, err)
	u.Host, u.Path = host, "/"+s.config.Name+"_"+name
	return u.String()
}

// connect opens a connection to a database that goes past the network, until the test ends.
func (s *site) connect(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.database(t, name, s.postgresHost(t)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// relayURL is of the login that may only read and empty the outbox.
func (s *site) relayURL(t *testing.T, database, host string) string {
	t.Helper()
	u, err := url.Parse(s.database(t, database, host))
	require.NoError(t, err)
	u.User = url.UserPassword(local.RelayRole(s.config.Name), s.secret(t, "relayPassword"))
	return u.String()
}

// secret is one that the stack made up for itself.
func (s *site) secret(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.config.Dir, local.SecretsFile))
	require.NoError(t, err)
	var secrets map[string]string
	require.NoError(t, json.Unmarshal(raw, &secrets))
	require.NotEmpty(t, secrets[name])
	return secrets[name]
}

// dial connects to the n-th instance of the service whose address the variable of demo.env holds.
func (s *site) dial(t *testing.T, variable string, n int) *local.Conn {
	t.Helper()
	env := map[string]string{"GIFTING_CA": s.env["GIFTING_CA"]}
	for _, i := range s.instances {
		if i.program == programOf[variable] && strings.HasSuffix(i.name, []string{"-1", "-2"}[n%2]) {
			env[variable] = i.addr
		}
	}
	conn, err := local.Dial(env, variable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

var programOf = map[string]string{
	"GIFTING_GRPC_TENANTS": string(identity.Tenants), "GIFTING_GRPC_CATALOG": string(identity.Catalog),
	"GIFTING_GRPC_ORDERS": string(identity.Orders), "GIFTING_GRPC_LINKS": string(identity.PersonalLinks),
	"GIFTING_GRPC_WEBHOOK": string(identity.Webhook),
}
