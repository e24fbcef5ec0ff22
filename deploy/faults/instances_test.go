//go:build faults

package faults_test

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/identity"
)

// programs of the platform, each after those it asks, at its place in the row of ports.
var programs = []struct {
	name identity.Name
	port int
	// database and seal are the names of its database and of the secret it seals with.
	database, seal string
	// peer is the variable by which others find it.
	peer string
}{
	{identity.Tenants, 1, "tenants", "tenantsSealKeys", "TENANTS_ADDR"},
	{identity.Catalog, 2, "catalog", "", "CATALOG_ADDR"},
	{identity.Orders, 3, "orders", "ordersSealKeys", "ORDERS_ADDR"},
	{identity.PersonalLinks, 4, "links", "linksSealKeys", "PERSONAL_LINKS_ADDR"},
	{identity.Events, 5, "events", "", "EVENTS_ADDR"},
	{identity.Webhook, 6, "webhook", "", "WEBHOOK_ADDR"},
	{identity.Gateway, 0, "", "", ""},
}

// newInstances gives two instances of each program, which reach each other and the servers over the network.
func (s *site) newInstances(t *testing.T, p plan) []*instance {
	t.Helper()
	var instances []*instance
	for _, program := range programs {
		for n := range 2 {
			port := s.config.PortBase + n*portsOfTwins + program.port
			name := string(program.name) + "-" + strconv.Itoa(n+1)
			instances = append(instances, &instance{
				program: string(program.name), name: name,
				path: filepath.Join(p.binaries, string(program.name)), log: filepath.Join(p.logs, name+".log"),
				addr: loopback(port), metrics: loopback(port + metricsAbove),
			})
		}
	}
	peers := s.peers(t, instances)
	for n, i := range instances {
		program := programs[n/2]
		variables := s.own(t, i, program.database)
		maps.Copy(variables, peers)
		variables["GRPC_ADDR"], variables["HTTP_ADDR"], variables["METRICS_ADDR"] = i.addr, i.addr, i.metrics
		if program.seal != "" {
			variables["SEAL_KEYS"] = s.secret(t, program.seal)
		}
		i.env = append(os.Environ(), p.more...)
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			i.env = append(i.env, "GIFTING_"+name+"="+variables[name])
		}
	}
	return instances
}

// peers are the addresses of the services, both instances of each.
func (s *site) peers(t *testing.T, instances []*instance) map[string]string {
	t.Helper()
	peers := map[string]string{}
	for n, program := range programs {
		if program.peer == "" {
			continue
		}
		var both []string
		for _, i := range instances[2*n : 2*n+2] {
			both = append(both, s.network.to(t, toServices, "to "+i.name, i.addr))
		}
		peers[program.peer] = strings.Join(both, ",")
	}
	return peers
}

// own are the settings of an instance, with ways of its own to PostgreSQL and Redis.
func (s *site) own(t *testing.T, i *instance, database string) map[string]string {
	t.Helper()
	variables := map[string]string{
		"PUBLIC_URL": s.env["GIFTING_URL"], "ALLOW_LOOPBACK_WEBHOOKS": "true", "LOG_LEVEL": "WARN",
		"KAFKA_BROKERS": s.kafka.instance.Address, "KAFKA_TOPIC": s.config.Topic(), "KAFKA_FEED_GROUP": s.config.Name + "-feed",
		"KAFKA_WEBHOOK_GROUP": s.config.Name + "-webhook", "FINGERPRINT_KEY": s.secret(t, "fingerprintKey"),
		"CLAIM_URL":  strings.TrimSuffix(s.env["GIFTING_URL"], "/api/public/v1") + "/c",
		"IMAGES_URL": "file://" + filepath.Join(s.config.Dir, "images") + "?create_dir=true&no_tmp_dir=true&metadata=skip",
	}
	if database != "" {
		host := s.network.to(t, toPostgres, i.name+" to PostgreSQL", s.postgresHost(t))
		variables["DATABASE_URL"] = s.database(t, database, host)
		variables["OUTBOX_SOURCES"] = "orders=" + s.relayURL(t, "orders", host) + ",links=" + s.relayURL(t, "links", host)
	}
	if i.program == string(identity.Gateway) || i.program == string(identity.Tenants) {
		u, err := url.Parse(s.config.RedisURL)
		require.NoError(t, err)
		u.Host = s.network.to(t, toRedis, i.name+" to Redis", u.Host)
		variables["REDIS_URL"] = u.String()
	}
	of := local.Identity(s.env, identity.Name(i.program))
	variables["TLS_CERT_FILE"], variables["TLS_KEY_FILE"], variables["TLS_CA_FILE"] = of.CertFile, of.KeyFile, of.CAFile
	return variables
}

// of gives the instances of a program.
func (s *site) of(program identity.Name) []*instance {
	return slices.DeleteFunc(slices.Clone(s.instances), func(i *instance) bool { return i.program != string(program) })
}
