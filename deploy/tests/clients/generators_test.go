//go:build clients

package clients_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// generator makes a client in a folder of this package. How, says its section of gateway/docs/guides/generators.md.
type generator struct {
	name, folder string
	// compile and run are commands of a shell in the folder.
	compile, run string
	// quoted is the file of the folder that the section quotes, and pins the one with the versions that it names.
	quoted, pins string
}

var generators = []generator{
	{
		"openapi-typescript", "typescript/openapi-typescript", "tsc -p .", "node ../dist/openapi-typescript/main.js",
		"main.ts", "../package.json",
	},
	{"hey-api", "typescript/hey-api", "tsc -p .", "node ../dist/hey-api/main.js", "openapi-ts.config.ts", "../package.json"},
	{"openapi-python-client", "python", "mypy --strict main.py gifting_api", "python main.py", "generator.yaml", "requirements.txt"},
	{"oapi-codegen", "go", "go vet ./... && go build -o program .", "./program", "oapi-codegen.yaml", "go.mod"},
	{
		"openapi-generator for PHP", "php", "find client/lib main.php -name '*.php' -print0 | xargs -0 -n 1 php -l > /dev/null",
		"php main.php", "pom.xml", "pom.xml",
	},
	{"openapi-generator", "java", "mvn -q -B compile", "java -cp 'target/classes:target/lib/*' clients.Main", "pom.xml", "pom.xml"},
	{
		// A variable of the generated code is never used, which is 219.
		"openapi-generator for C#", "csharp", "cp node_modules/nswag/bin/binaries/Win/Newtonsoft.Json.dll . && " +
			"mcs -langversion:latest -warn:4 -warnaserror -nowarn:219 -out:program.exe " +
			"-r:Newtonsoft.Json.dll,System.Net.Http,System.Runtime.Serialization,System.ComponentModel.DataAnnotations " +
			"-recurse:'client/src/*.cs' Program.cs",
		"mono program.exe", "pom.xml", "pom.xml",
	},
}

func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	p := harness.Start(t)
	guide, err := os.ReadFile("../../../gateway/docs/guides/generators.md")
	require.NoError(t, err)
	future := newerGateway(t, p)
	for _, g := range generators {
		t.Run(g.name, func(t *testing.T) {
			c := client{t: t, generator: g, platform: p, future: future, key: p.DemoKey(t)}
			c.writeDocument()
			c.shell(c.commandIn(string(guide)))
			c.shell(g.compile)
			c.check(c.shell(g.run))
		})
	}
}

// client is a generated client under test.
type client struct {
	generator

	t        *testing.T
	platform *harness.Platform
	future   string
	key      string
}

func (c client) dir() string { return filepath.Join(os.Getenv("GIFTING_CLIENTS"), c.folder) }

// writeDocument stores the document as it is served.
func (c client) writeDocument() {
	c.t.Helper()
	served := harness.Visit(c.t, c.platform.Env["GIFTING_URL"]+"/openapi.yaml")
	require.Equal(c.t, http.StatusOK, served.Status)
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir(), "openapi.yaml"), []byte(served.Body), 0o600))
}

var (
	block   = regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```")
	version = regexp.MustCompile(`\b\d+\.\d+\.\d+\b`)
)

// commandIn returns the command that the generator's section of the guide shows. What else the section shows must be what is used.
func (c client) commandIn(guide string) (command string) {
	c.t.Helper()
	_, section, found := strings.Cut(guide, "\n## "+c.name+"\n")
	require.True(c.t, found, "the guide has no section %s", c.name)
	section, _, _ = strings.Cut(section, "\n## ")
	quoted, pins := c.read(c.quoted), c.read(c.pins)
	for _, found := range block.FindAllStringSubmatch(section, -1) {
		if found[1] == "sh" {
			command = found[2]
			continue
		}
		for line := range strings.Lines(found[2]) {
			require.Contains(c.t, quoted, strings.TrimSpace(line), c.quoted)
		}
	}
	require.NotEmpty(c.t, command)
	versions := version.FindAllString(section, -1)
	require.NotEmpty(c.t, versions)
	for _, one := range versions {
		require.Contains(c.t, pins, one, c.pins)
	}
	return command
}

func (c client) read(name string) string {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir(), name))
	require.NoError(c.t, err)
	return string(content)
}

// shell runs commands in the folder and returns what they print.
func (c client) shell(commands string) string {
	c.t.Helper()
	const patience = 10 * time.Minute // The first Maven build downloads for minutes.
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-e", "-c", commands)
	command.Dir = c.dir()
	command.Env = append(os.Environ(), "GOWORK=off",
		"GIFTING_URL="+c.platform.Env["GIFTING_URL"], "GIFTING_KEY="+c.key, "GIFTING_BRAND_ID="+c.platform.Env["GIFTING_BRAND_ID"],
		"FUTURE_URL="+c.future)
	var failures strings.Builder
	command.Stderr = &failures
	printed, err := command.Output()
	require.NoError(c.t, err, "%s\n%s\n%s", commands, printed, failures.String())
	return string(printed)
}

// check compares what the program printed with what the platform knows.
func (c client) check(printed string) {
	c.t.Helper()
	lines := map[string][]string{}
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		lines[words[0]] = words[1:]
	}
	require.Len(c.t, lines["order"], 2, printed)
	id, status := lines["order"][0], lines["order"][1]
	order := c.platform.Get(c.t, c.key, "/orders/"+id).OK(c.t)
	require.Equal(c.t, order["status"], status)
	require.Len(c.t, lines["feed"], 2, printed)
	require.Equal(c.t, id, lines["feed"][1])
	require.Equal(c.t, []string{"external_order_id_conflict", id}, lines["problem"])
	require.Equal(c.t, []string{unknownCode, unknownFieldCode, "order.created", unknownType}, lines["unknown"])
}
