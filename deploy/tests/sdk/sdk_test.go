//go:build sdk

// Package sdk installs the packages of the SDKs, as `make sdk` has built them, into empty projects, and uses them against a
// platform. It also runs the Postman collection.
package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const root = "../../.."

// project is an empty project of an integrator.
type project struct {
	dir, key string
	env      []string
}

// newProject has a key with a webhook of its own, so that the languages share no limit and no receiver.
func newProject(t *testing.T, p *harness.Platform, language string) project {
	t.Helper()
	env := os.Environ()
	for name, value := range p.Env {
		env = append(env, name+"="+value)
	}
	made, box := newKey(t, p, seed.Direct, language), p.Env["GIFTING_INBOX_URL"]
	env = append(env, "GIFTING_KEY="+made.GetApiKey(), "GIFTING_WEBHOOK_SECRET="+made.GetWebhookSecret(),
		"GIFTING_INBOX_URL="+box+"?path=/"+language)
	return project{dir: t.TempDir(), key: made.GetApiKey(), env: env}
}

// newKey has a webhook.
func newKey(t *testing.T, p *harness.Platform, tenant, path string) *tenantsv1.CreateKeyResponse {
	t.Helper()
	made := p.NewKey(t, tenant)
	_, err := p.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
		Actor: seed.Installer, TenantId: tenant, KeyId: made.GetKey().GetId(), Url: new(p.Env["GIFTING_INBOX_URL"] + "/" + path),
	})
	require.NoError(t, err)
	return made
}

func (p project) run(t *testing.T, program string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = p.dir, p.env
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", program, args, output)
}

// add copies files of the repository, and returns their names.
func (p project) add(t *testing.T, pattern string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		p.write(t, filepath.Base(path), string(content))
		names = append(names, filepath.Base(path))
	}
	return names
}

// hasLicense checks the licence of an installed package.
func (p project) hasLicense(t *testing.T, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.dir, pattern))
	require.NoError(t, err)
	require.Len(t, paths, 1, pattern)
	installed, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	require.NoError(t, err)
	require.Equal(t, string(license), string(installed))
}

func (p project) write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600))
}

// built is the package that `make sdk` has built.
func built(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, ".local", "sdk", pattern))
	require.NoError(t, err)
	require.Len(t, paths, 1, "run `make sdk`")
	path, err := filepath.Abs(paths[0])
	require.NoError(t, err)
	return path
}

func TestTheSDKsWorkWithThePlatform(t *testing.T) {
	t.Parallel()
	p := harness.Start(t)
	t.Run("TypeScript", func(t *testing.T) { testTypeScript(t, p, newProject(t, p, "typescript")) })
	t.Run("Python", func(t *testing.T) { testPython(t, p, newProject(t, p, "python")) })
	t.Run("Go", func(t *testing.T) { testGoRelay(t, p) })
	t.Run("Postman", func(t *testing.T) { testPostman(t, p) })
}

func testTypeScript(t *testing.T, platform *harness.Platform, p project) {
	t.Helper()
	p.write(t, "package.json", `{"name": "shop", "private": true, "type": "module"}`)
	p.run(t, "npm", "install", "--no-audit", "--no-fund", built(t, "*.tgz"), "typescript@5.9.3", "@types/node@18.19.130")
	p.write(t, "tsconfig.json", `{"compilerOptions": {
		"target": "ES2022", "module": "NodeNext", "strict": true, "exactOptionalPropertyTypes": true,
		"outDir": "build", "types": ["node"]}}`)
	p.hasLicense(t, filepath.Join("node_modules", "@partnergifting", "sdk", "LICENSE"))
	p.add(t, "gateway/sdk/typescript/stack/*ts")
	samples, receiver := p.add(t, "gateway/docs/samples/typescript/*.ts"), newReceiver(t)
	p.sendingHere(t, "typescript/"+relayFile+".ts", receiver)
	p.addREADME(t)
	p.run(t, "npx", "tsc")
	p.run(t, "node", "--test", "build/stack.test.js")
	p.run(t, "node", "build/commonjs.cjs")
	for _, name := range samples {
		if name = strings.TrimSuffix(name, ".ts"); name != relayFile {
			p.run(t, "node", "build/"+name+".js")
		}
	}
	p.relay(t, platform, receiver, "node", "build/"+relayFile+".js")
}

// addREADME makes a module of each block of the README. What is the reader's own is declared in readme.d.ts.
func (p project) addREADME(t *testing.T) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "gateway", "sdk", "typescript", "README.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```ts\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for i, block := range blocks {
		p.write(t, fmt.Sprintf("readme-%d.ts", i), block[1]+"export {};\n")
	}
}

func testPython(t *testing.T, platform *harness.Platform, p project) {
	t.Helper()
	p.run(t, "python3", "-m", "venv", "venv")
	python := filepath.Join(p.dir, "venv", "bin", "python")
	p.run(t, python, "-m", "pip", "install", "--disable-pip-version-check", built(t, "*.whl"))
	p.hasLicense(t, filepath.Join("venv", "lib", "python*", "site-packages", "partnergifting-*.dist-info", "licenses", "LICENSE"))
	p.run(t, python, "-c", "import partnergifting") // Before the tools of the tests bring packages that it may lack.
	p.run(t, python, "-m", "pip", "install", "--disable-pip-version-check", "pytest==9.2.0", "mypy==2.4.1")
	p.add(t, "gateway/sdk/python/stack/*.py")
	samples, receiver := p.add(t, "gateway/docs/samples/python/*.py"), newReceiver(t)
	p.sendingHere(t, "python/"+relayFile+".py", receiver)
	p.run(t, python, append([]string{"-m", "mypy", "--strict", "stack_test.py"}, samples...)...)
	p.run(t, python, "-m", "pytest", "-p", "no:cacheprovider", "stack_test.py")
	for _, name := range samples {
		if name != relayFile+".py" {
			p.run(t, python, name)
		}
	}
	p.relay(t, platform, receiver, python, relayFile+".py")
}

// testPostman runs the collection by the command of the guide, with the address and the key of demo.env. It runs twice, because
// a run leaves records behind.
func testPostman(t *testing.T, p *harness.Platform) {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(root, "gateway", "docs", "guides", "sandbox.md"))
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^npx .*$`).FindString(string(guide))
	newman := func(key, more string) (string, error) {
		run := exec.CommandContext(t.Context(), "sh", "-c", command+more)
		run.Env = append(os.Environ(), "GIFTING_URL="+p.Env["GIFTING_URL"], "GIFTING_KEY="+key)
		output, err := run.CombinedOutput()
		return string(output), err
	}
	output, err := newman(p.Env["GIFTING_KEY"], " --iteration-count 2")
	require.NoError(t, err, output)
	output, err = newman(approvingKey(t, p), "")
	require.NoError(t, err, "a tenant that requires approvals and a field: %s", output)
	output, err = newman("gft_sbx_wrong", " --bail")
	require.Error(t, err, "a response that is no success")
	require.Contains(t, output, "expected response code to be 2XX but found 401")
}

// approvingKey is a key of the tenant that requires approvals. The tenant gets a required field, and what a run of the
// collection needs.
func approvingKey(t *testing.T, p *harness.Platform) string {
	t.Helper()
	key := newKey(t, p, seed.Approving, "approving").GetApiKey()
	_, err := p.Tenants(t).PutCustomField(t.Context(), &tenantsv1.PutCustomFieldRequest{
		Actor: seed.Installer, TenantId: seed.Approving, Field: &tenantsv1.CustomField{
			Id: uuid.NewString(), Label: "Agreed", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX, Required: true,
		},
	})
	require.NoError(t, err)
	_, err = p.Catalog(t).PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: uuid.NewString(), TenantId: seed.Approving, BrandId: p.Array(t, key, "/brands")[0]["id"].(string), Name: "Easter",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: p.Env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: new(int32(5))}},
		}},
	})
	require.NoError(t, err)
	return key
}
