// Package processes builds the programs of the platform and makes the environment in which each runs as a process of its
// own. It uses the databases, secrets and certificates of a local stack, which must have run before.
package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/identity"
)

// Program is a program of the platform.
type Program struct {
	Name identity.Name
	// Port is its port above the base of a stack. Its metrics are MetricsAbove that.
	Port int
	// Database is the name of its database, Seal that of its key ring, Peer the variable by which others find it.
	Database, Seal, Peer string
}

// MetricsAbove is how far the port of a program's metrics is above its own.
const MetricsAbove = 10

// Programs are in the order in which they start: each after those that it calls.
func Programs() []Program {
	return []Program{
		{identity.Tenants, 1, "tenants", "tenantsSealKeys", "TENANTS_ADDR"},
		{identity.Catalog, 2, "catalog", "", "CATALOG_ADDR"},
		{identity.Orders, 3, "orders", "ordersSealKeys", "ORDERS_ADDR"},
		{identity.PersonalLinks, 4, "links", "linksSealKeys", "PERSONAL_LINKS_ADDR"},
		{identity.Events, 5, "events", "", "EVENTS_ADDR"},
		{identity.Webhook, 6, "webhook", "", "WEBHOOK_ADDR"},
		{identity.Gateway, 0, "", "", ""},
	}
}

// Build builds the named programs, or all, with flags of `go build`, into the folder. Sources is the folder of the workspace;
// empty is that of the working directory.
func Build(ctx context.Context, into, sources string, flags []string, names ...identity.Name) error {
	const platform = "github.com/partnergifting/platform/"
	args := append(append([]string{"build"}, flags...), "-o", into+"/")
	for _, p := range Programs() {
		folder := "services/" + string(p.Name)
		if p.Name == identity.Gateway {
			folder = "gateway"
		}
		if len(names) == 0 || slices.Contains(names, p.Name) {
			args = append(args, platform+folder+"/cmd/"+string(p.Name))
		}
	}
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // The caller chooses the flags.
	command.Dir = sources
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build programs: %w\n%s", err, output)
	}
	return nil
}

// Addresses say where a program listens and how it reaches the rest.
type Addresses struct {
	Listen, Metrics string
	// Postgres and Redis are addresses to use instead of those of the stack, if any.
	Postgres, Redis string
	// Peers are the addresses of the services, by the variable of Program.Peer.
	Peers map[string]string
}

// Environment is that of a program on the databases and the demo of a stack; demo is what its demo.env holds.
func Environment(stack local.Config, demo map[string]string, p Program, at Addresses) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join(stack.Dir, local.SecretsFile))
	if err != nil {
		return nil, err
	}
	var secrets map[string]string
	if err := json.Unmarshal(raw, &secrets); err != nil {
		return nil, err
	}
	postgres, err := withHost(stack.PostgresURL, at.Postgres)
	if err != nil {
		return nil, err
	}
	redis, err := withHost(stack.RedisURL, at.Redis)
	if err != nil {
		return nil, err
	}
	database := func(name string, user *url.Userinfo) string {
		at := *postgres
		at.Path, at.User = "/"+stack.Name+"_"+name, user
		return at.String()
	}
	relay := url.UserPassword(local.RelayRole(stack.Name), secrets["relayPassword"])
	own := local.Identity(demo, p.Name)
	variables := map[string]string{
		"GRPC_ADDR": at.Listen, "HTTP_ADDR": at.Listen, "METRICS_ADDR": at.Metrics,
		"TLS_CERT_FILE": own.CertFile, "TLS_KEY_FILE": own.KeyFile, "TLS_CA_FILE": own.CAFile,
		"PUBLIC_URL": demo["GIFTING_URL"], "CLAIM_URL": strings.TrimSuffix(demo["GIFTING_URL"], "/api/public/v1") + "/c",
		"ALLOW_LOOPBACK_WEBHOOKS": "true", "REDIS_URL": redis.String(), "FINGERPRINT_KEY": secrets["fingerprintKey"],
		"KAFKA_BROKERS": strings.Join(stack.KafkaBrokers, ","), "KAFKA_TOPIC": stack.Topic(),
		"KAFKA_FEED_GROUP": stack.Name + "-feed", "KAFKA_WEBHOOK_GROUP": stack.Name + "-webhook",
		"IMAGES_URL":     "file://" + filepath.Join(stack.Dir, "images") + "?create_dir=true&no_tmp_dir=true&metadata=skip",
		"OUTBOX_SOURCES": "orders=" + database("orders", relay) + ",links=" + database("links", relay),
	}
	if p.Database != "" {
		variables["DATABASE_URL"] = database(p.Database, postgres.User)
	}
	if p.Seal != "" {
		variables["SEAL_KEYS"] = secrets[p.Seal]
	}
	env := os.Environ()
	for _, set := range []map[string]string{variables, at.Peers} {
		for name, value := range set {
			env = append(env, "GIFTING_"+name+"="+value)
		}
	}
	return env, nil
}

func withHost(address, host string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err == nil && host != "" {
		at.Host = host
	}
	return at, err
}
