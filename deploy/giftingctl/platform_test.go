package giftingctl_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/giftingctl"
	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// fixture is a running platform, called as its users do.
type fixture struct {
	*harness.Platform

	config string
}

// result is what a command printed.
type result struct {
	code     int
	out, err string
}

func run(t *testing.T, config string, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	code := giftingctl.Run(t.Context(), append([]string{"--config", config}, args...),
		giftingctl.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return result{code, out.String(), errs.String()}
}

func (f fixture) run(t *testing.T, args ...string) result {
	t.Helper()
	return run(t, f.config, args...)
}

// ok runs a command that must succeed.
func (f fixture) ok(t *testing.T, args ...string) result {
	t.Helper()
	r := f.run(t, args...)
	require.Zero(t, r.code, "%v: %s", args, r.err)
	return r
}

// json runs a command that must succeed, and reads what it printed.
func (f fixture) json(t *testing.T, args ...string) map[string]any {
	t.Helper()
	read := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(f.ok(t, append(args, "-o", "json")...).out), &read))
	return read
}

// member returns a text inside an object.
func member(t *testing.T, object map[string]any, path ...string) string {
	t.Helper()
	for _, name := range path[:len(path)-1] {
		next, ok := object[name].(map[string]any)
		require.True(t, ok, "%v has no %s", object, name)
		object = next
	}
	value, ok := object[path[len(path)-1]].(string)
	require.True(t, ok, "%v has no %s", object, path[len(path)-1])
	return value
}

// TestPlatform uses one platform as its operators do.
func TestPlatform(t *testing.T) {
	t.Parallel()
	p := harness.Start(t)
	f := fixture{Platform: p, config: local.ContextsFile(p.Config.Dir)}
	tenant := uuid.NewString()
	t.Run("all is well", func(t *testing.T) {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			status := f.run(t, "status")
			assert.Zero(c, status.code, status.out)
		}, harness.Slow, time.Second)
	})
	t.Run("a tenant, its brand, its team and its key are made", func(t *testing.T) { f.testTenant(t, tenant) })
	t.Run("an order is placed, approved, dispatched and delivered", func(t *testing.T) { f.testOrder(t, tenant) })
	t.Run("a check of the sandbox", f.testCheck)
	t.Run("gifts are imported", f.testImport)
	t.Run("images and logos are stored", func(t *testing.T) { f.testImages(t, tenant) })
}

func (f fixture) testTenant(t *testing.T, tenant string) {
	made := f.json(t, "tenants", "put", tenant, "--name", "Fjord", "--currency", "EUR", "--approval-required", "--api-access")
	require.Equal(t, tenant, member(t, made, "tenant", "id"))
	key := f.ok(t, "keys", "create", "--tenant", tenant, "--name", "CRM", "--scopes", "catalog,orders", "--all-brands")
	require.Contains(t, key.out, "api key")
	require.Equal(t, "This is the only time that the API key and its signing secret can be read. Store it now.\n", key.err)
	f.ok(t, "brands", "put", "--tenant", tenant, "--name", "Fjord", "--slug", "fjord", "--primary-colour", "#112233")
	audit := f.ok(t, "keys", "audit", "--tenant", tenant)
	require.Contains(t, audit.out, "ACTOR KIND")
	require.Regexp(t, `create .* backoffice-account +staff-7`, audit.out)
}

func (f fixture) testOrder(t *testing.T, tenant string) {
	brand := member(t, f.json(t, "brands", "put", "--tenant", tenant, "--name", "Other", "--slug", "other"), "brand", "id")
	administrator := member(t, f.json(t, "team", "put", "--tenant", tenant, "--name", "Ada", "--email", "ada@fjord.example",
		"--role", "administrator", "--active"), "member", "id")
	order := member(t, f.json(t, "orders", "place", "--tenant", tenant, "--brand-id", brand,
		"--items", "custom-product-name=A signed football,budget.amount=150,budget.currency=EUR",
		"--client.name", "Ann Berg", "--recipient.name", "Ann Berg", "--recipient.phone", "+46 70 123 45 67",
		"--recipient.address.street", "Storgatan 1", "--recipient.address.city", "Stockholm",
		"--recipient.address.postal-code", "111 22", "--recipient.address.country", "SE"), "order", "id")
	config := f.withActor(t, "workspace", tenant, administrator)
	shown := f.json(t, "orders", "get", order, "--tenant", tenant)
	if member(t, shown, "order", "status") == "ORDER_STATUS_REQUESTED" {
		approved := run(t, config, "orders", "approve", order)
		require.Zero(t, approved.code, approved.err)
	}
	f.ok(t, "orders", "message", order, "It leaves today.", "--tenant", tenant)
	f.ok(t, "orders", "dispatch", order, "--tenant", tenant, "--carrier", "Post", "--tracking-reference", "T-1",
		"--tracking-url", "https://carrier.example/T-1")
	require.Regexp(t, `(?m)^status +completed$`, f.ok(t, "orders", "deliver", order, "--tenant", tenant).out)
	require.Contains(t, f.ok(t, "orders", "conversation", order, "--tenant", tenant).out, "It leaves today.")
	require.Contains(t, f.ok(t, "orders", "audit", order, "--tenant", tenant).out, "dispatch")
	require.Contains(t, f.ok(t, "orders", "search", "--tenant", tenant, "--status", "completed").out, order)
	again := f.run(t, "orders", "cancel", order, "--tenant", tenant, "--reason", "Too late.")
	require.Equal(t, 1, again.code)
	require.Contains(t, again.err, "giftingctl: Not cancellable (not_cancellable): ")
	require.Contains(t, again.err, "  The status is completed.\n")
}

// withActor returns a file of contexts in which the current one acts for a person of a tenant.
func (f fixture) withActor(t *testing.T, name, tenant, actor string) string {
	t.Helper()
	content, err := os.ReadFile(f.config)
	require.NoError(t, err)
	text := strings.Replace(string(content), "current: backoffice", "current: "+name, 1)
	text = strings.ReplaceAll(strings.ReplaceAll(text, seed.Approver, actor), "tenant: "+seed.Approving, "tenant: "+tenant)
	path := filepath.Join(t.TempDir(), "giftingctl.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (f fixture) testImages(t *testing.T, tenant string) {
	const image = "../local/seed/images/football.webp"
	gift := f.json(t, "images", "upload", image, "--context", "operator")
	require.Regexp(t, `^[0-9a-f]{32}$`, member(t, gift, "fileId"))
	brand := member(t, f.json(t, "brands", "put", "--tenant", tenant, "--name", "Logo", "--slug", "logo"), "brand", "id")
	logo := member(t, f.json(t, "brands", "upload-logo", brand, image, "--tenant", tenant), "url")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, logo, nil)
	require.NoError(t, err)
	served, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, served.Body.Close())
	require.Equal(t, http.StatusOK, served.StatusCode)
	refused := f.run(t, "images", "upload", "platform_test.go", "--context", "operator")
	require.Equal(t, 1, refused.code)
	require.Regexp(t, `^giftingctl: .* \([a-z_]+\): `, refused.err)
	missing := f.run(t, "images", "upload", "none.png", "--context", "operator")
	require.Equal(t, 2, missing.code)
}

func (f fixture) testImport(t *testing.T) {
	dir := t.TempDir()
	gifts, report := filepath.Join(dir, "gifts.csv"), filepath.Join(dir, "report.csv")
	const header = "id,state,name,description,availableCountries,prices\n"
	id := uuid.NewString()
	row := id + ",PUBLISHED,Team jersey,The jersey of the season.,SE;NO,NORDICS=79.90\n"
	require.NoError(t, os.WriteFile(gifts, []byte(header+row), 0o600))
	imported := f.ok(t, "catalog", "import", gifts, "--report", report, "--context", "operator")
	require.Empty(t, imported.out)
	require.Contains(t, imported.err, "1 rows: 1 created")
	written, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Equal(t, "line,id,outcome,errors\n2,"+id+",created,\n", string(written))
	require.Regexp(t, `(?m)^product name +Team jersey$`, f.ok(t, "products", "get", id).out)
	require.NoError(t, os.WriteFile(gifts, []byte(header+row+"x,SOLD,,,,\n"), 0o600))
	rejected := f.run(t, "catalog", "import", gifts, "--context", "operator")
	require.Equal(t, 1, rejected.code)
	require.Contains(t, rejected.err, "giftingctl: 1 of 2 rows were rejected; see the report\n")
	require.Contains(t, rejected.out, `"outcome":"unchanged"`)
	refused := f.run(t, "catalog", "import", gifts, "--context", "workspace")
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.err, "giftingctl: Caller not allowed (caller_not_allowed): ")
	for _, args := range [][]string{
		{}, {"-"}, {filepath.Join(dir, "none.csv")}, {gifts, "--format", "xml"}, {gifts, "--report-format", "xml"},
	} {
		require.Equal(t, 2, f.run(t, append([]string{"catalog", "import"}, args...)...).code, args)
	}
}
