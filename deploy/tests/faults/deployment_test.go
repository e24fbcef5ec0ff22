//go:build faults

package faults_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// deployment is a platform with two instances of each program as processes, with its own servers and a proxy on every route.
type deployment struct {
	servers
	config local.Config
	// env has the addresses and keys of the demo.
	env map[string]string
	// logs is the folder of the instances' logs.
	logs      string
	network   *network
	instances []*instance
	keys      tenantsv1.TenantOperationsServiceClient
	cells     tenantsv1.CellOperationsServiceClient
	// peers are the addresses of both instances of each program, by the letter of their cell and the setting of their callers.
	peers map[string]map[string]string
}

type options struct {
	// binaries is the folder of the programs.
	binaries string
	// direct leaves out the proxies.
	direct bool
	// slowCommits makes it more likely that changes commit in another order than they were recorded.
	slowCommits bool
	logs        string
	// env has further variables of all instances, settings further settings of PostgreSQL.
	env, settings []string
	// ownServers are the databases that have a PostgreSQL server of their own. With fakeClock, the file clock says how far the clocks
	// of these servers are ahead.
	ownServers []string
	fakeClock  bool
	// cells are the letters of further cells.
	cells []string
}

// The ports of a deployment are in a row: those of a stack, those of the second instances, the servers, the network of each cell.
const (
	portsOfServers = 9
	portsOfNetwork = 60
)

// newDeployment prepares the databases and the demo with a stack in this process, then starts the instances.
func newDeployment(t *testing.T, o options) *deployment {
	t.Helper()
	dir := t.TempDir()
	d := &deployment{logs: o.logs, peers: map[string]map[string]string{}}
	portsOfPrograms := 2 * local.Config{Cells: o.cells}.Ports()
	first, err := deps.FreeRow(t.Context(), portsOfPrograms+portsOfServers+portsOfNetwork*(1+len(o.cells)))
	require.NoError(t, err)
	if !o.direct {
		d.network = newNetwork(t, first+portsOfPrograms+portsOfServers)
	}
	d.servers = startServers(t, dir, first+portsOfPrograms, d.network, o)
	d.config = local.Config{
		Dir: filepath.Join(dir, "stack"), PortBase: first, Name: "faults", Cells: o.cells,
		PostgresURL: d.postgres.instance.Address, RedisURL: d.redis.instance.Address,
		KafkaBrokers: []string{d.kafka.instance.Address}, OwnServers: map[string]string{},
	}
	for database, own := range d.dedicated {
		d.config.OwnServers[database] = own.instance.Address
	}
	stack, err := local.Start(t.Context(), d.config)
	require.NoError(t, err)
	d.env = stack.Env
	require.NoError(t, stack.Stop(t.Context()))
	if o.slowCommits {
		for _, letter := range append([]string{identity.HomeCell}, o.cells...) {
			for _, database := range []string{"orders", "links"} {
				_, err := d.connect(t, inCell(letter, database)).Exec(t.Context(), slowCommits)
				require.NoError(t, err)
			}
		}
	}
	d.addInstances(t, stack, o)
	t.Cleanup(func() {
		for _, i := range d.instances {
			i.kill()
		}
	})
	for _, i := range d.instances {
		require.NoError(t, i.start(t.Context()))
	}
	tenants := d.dial(t, identity.Tenants, 0)
	d.keys, d.cells = tenantsv1.NewTenantOperationsServiceClient(tenants), tenantsv1.NewCellOperationsServiceClient(tenants)
	for _, letter := range o.cells {
		d.putCell(t, letter)
	}
	return d
}

// slowCommits delays each commit of an event by a random, mostly short time, after its recorded_at is set and before it is
// visible.
const slowCommits = `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_sleep(0.25 * power(random(), 4));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION slow_commit()`

// addInstances prepares two instances of each program. Every instance has its own routes to PostgreSQL and Redis.
func (d *deployment) addInstances(t *testing.T, stack *local.Stack, o options) {
	t.Helper()
	d.addInstancesOf(t, identity.HomeCell, stack.Programs, o)
	for _, letter := range o.cells {
		d.addInstancesOf(t, letter, stack.Cells[letter], o)
	}
}

// addInstancesOf prepares those of a cell.
func (d *deployment) addInstancesOf(t *testing.T, cell string, environments map[identity.Name]map[string]string, o options) {
	t.Helper()
	peers, before := maps.Clone(d.peers[identity.HomeCell]), len(d.instances)
	if peers == nil {
		peers = map[string]string{}
	}
	d.peers[cell] = peers
	for _, program := range programs.All() {
		if environments[program.Name] == nil {
			continue
		}
		var routes []string
		for n := range 2 {
			port := portOf(t, environments[program.Name]["GIFTING_METRICS_ADDR"]) - programs.MetricsOffset + n*d.config.Ports()
			name := string(program.Name) + "-" + strconv.Itoa(n+1)
			if cell != identity.HomeCell {
				name += "-" + cell
			}
			i := &instance{
				program: program, name: name, cell: cell,
				path: filepath.Join(o.binaries, string(program.Name)), log: filepath.Join(o.logs, name+".log"),
				addr: loopback(port), grpc: loopback(port - program.Port + program.GRPCPort), metrics: loopback(port + programs.MetricsOffset),
			}
			d.instances = append(d.instances, i)
			if program.Name != identity.Gateway {
				routes = append(routes, d.network.to(t, toServices, "to "+name, i.addr))
			}
		}
		peers[settings.Prefix+program.PeerSetting()] = strings.Join(routes, ",")
	}
	redis := hostOf(t, d.config.RedisURL)
	for _, i := range d.instances[before:] {
		env, routed := maps.Clone(environments[i.program.Name]), d.routesToPostgres(t, i)
		for name, value := range env {
			switch name {
			case "GIFTING_GRPC_ADDR":
				env[name] = i.grpc
			case "GIFTING_HTTP_ADDR":
				env[name] = i.addr
			case "GIFTING_METRICS_ADDR":
				env[name] = i.metrics
			case "GIFTING_DATABASE_URL", "GIFTING_OUTBOX_SOURCES":
				env[name] = routed(value)
			case "GIFTING_REDIS_URL":
				env[name] = strings.Replace(value, redis, d.network.to(t, toRedis, i.name+" to Redis", redis), 1)
			default:
				if routes, peer := peers[name]; peer {
					env[name] = routes
				}
			}
		}
		i.env = os.Environ()
		for name, value := range env {
			i.env = append(i.env, name+"="+value)
		}
		i.env = append(append(i.env, "GIFTING_LOG_LEVEL=WARN"), o.env...)
	}
}

// routesToPostgres returns a function that replaces the addresses of PostgreSQL servers in a text by the instance's routes to them.
func (d *deployment) routesToPostgres(t *testing.T, i *instance) func(text string) string {
	t.Helper()
	routes := map[string]string{}
	return func(text string) string {
		for _, s := range append([]*server{d.postgres}, slices.Collect(maps.Values(d.dedicated))...) {
			host := hostOf(t, s.instance.Address)
			if !strings.Contains(text, host) {
				continue
			}
			if routes[host] == "" {
				routes[host] = d.network.to(t, toPostgres, i.name+" to "+s.name, host)
			}
			text = strings.ReplaceAll(text, host, routes[host])
		}
		return text
	}
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u.Host
}

// portOf is the port of an address.
func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	return port
}

// of returns the instances of a program in the first cell.
func (d *deployment) of(program identity.Name) []*instance {
	return d.ofCell(identity.HomeCell, program)
}

// ofCell returns the instances of a program in a cell.
func (d *deployment) ofCell(cell string, program identity.Name) []*instance {
	return slices.DeleteFunc(slices.Clone(d.instances), func(i *instance) bool { return i.program.Name != program || i.cell != cell })
}

// urlOf is the direct address of a database, with a superuser. inCell names that of another cell.
func (d *deployment) urlOf(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(d.postgresOf(database).instance.Address)
	require.NoError(t, err)
	u.Path = "/" + d.config.Name + "_" + database
	return u.String()
}

// connect connects directly to a database, until the test ends.
func (d *deployment) connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.urlOf(t, database))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// dial connects directly to the first or second instance of a service in the first cell, for even or odd n.
func (d *deployment) dial(t *testing.T, service identity.Name, n int) *local.Conn {
	t.Helper()
	return d.dialCell(t, identity.HomeCell, service, n)
}

func (d *deployment) dialCell(t *testing.T, cell string, service identity.Name, n int) *local.Conn {
	t.Helper()
	variable := "GIFTING_GRPC_" + strings.ToUpper(programs.Named(service).Database)
	addr := d.ofCell(cell, service)[n%2].addr
	conn, err := local.Dial(map[string]string{"GIFTING_CA": d.env["GIFTING_CA"], variable: addr}, variable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// newClient reaches both gateways over the network.
func (d *deployment) newClient(t *testing.T, to *results) *client {
	t.Helper()
	c := &client{
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers}}, next: &atomic.Uint64{}, results: to,
	}
	for _, i := range d.of(identity.Gateway) {
		c.bases = append(c.bases, baseOf(d.network.to(t, toGateways, "to "+i.name, i.addr)))
	}
	return c
}

// baseOf is the base address of the API of a gateway.
func baseOf(addr string) string { return "http://" + addr + "/api/public/v1" }

// createKey makes a key, limited to the brand if there is one.
func (d *deployment) createKey(ctx context.Context, name, tenant, brand string, scopes ...commonv1.Scope) (reader, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	req := &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: name, Scopes: scopes, AllBrands: brand == ""}
	if brand != "" {
		req.BrandIds = []string{brand}
	}
	created, err := d.keys.CreateKey(ctx, req)
	return reader{
		name: name, tenant: tenant, key: created.GetApiKey(), keyID: created.GetKey().GetId(), secret: created.GetWebhookSecret(),
		scopes: scopes, brand: brand,
	}, err
}

func (d *deployment) newReader(t *testing.T, name, tenant, brand string, scopes ...commonv1.Scope) reader {
	t.Helper()
	r, err := d.createKey(t.Context(), name, tenant, brand, scopes...)
	require.NoError(t, err)
	return r
}

// setWebhook lets the key receive webhooks at the address.
func (d *deployment) setWebhook(t *testing.T, r reader, url string) {
	t.Helper()
	_, err := d.keys.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
		Actor: staff, TenantId: r.tenant, KeyId: r.keyID, Url: &url,
	})
	require.NoError(t, err)
}

// previousVariable names the revision that the instances run before they are restarted. The default is the last release.
const previousVariable = "GIFTING_TEST_PREVIOUS"

// buildPrograms builds the named programs, or all, and returns their folder.
func buildPrograms(t *testing.T, sources string, flags []string, names ...identity.Name) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), dir, sources, flags, names...))
	return dir
}

// previousSources returns a folder with the sources of the previous version.
func previousSources(t *testing.T) string {
	t.Helper()
	revision := os.Getenv(previousVariable)
	if revision == "" {
		find := exec.CommandContext(t.Context(), "git", "log", "-1", "--format=%H", "--grep=^release: v")
		find.Dir = root(t)
		found, err := find.Output()
		require.NoError(t, err)
		revision = strings.TrimSpace(string(found))
		require.NotEmpty(t, revision, "the history has no release")
	}
	t.Logf("the instances are upgraded from %s", revision)
	sources := t.TempDir()
	packed := filepath.Join(sources, "sources.tar")
	pack := exec.CommandContext(t.Context(), "git", "archive", "--output", packed, revision)
	pack.Dir = root(t)
	output, err := pack.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.CommandContext(t.Context(), "tar", "-x", "-f", packed, "-C", sources).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return sources
}
