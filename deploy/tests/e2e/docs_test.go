package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// root of the repository, from this package.
const root = "../../.."

// pages returns the pages whose commands are run.
func pages(t *testing.T) (found []string) {
	t.Helper()
	for _, pattern := range []string{
		"README.md", "proto/README.md", "gateway/README.md", "helm/gifting/README.md", "gateway/sdk/gifting/README.md",
		"gateway/docs/guides/*.md",
		"deploy/*/README.md", "deploy/tests/*/README.md", "services/*/README.md", ".github/*.md",
	} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		found = append(found, paths...)
	}
	require.NotEmpty(t, found)
	return slices.DeleteFunc(found, func(path string) bool { return path == productionPage }) // It has a test of its own.
}

// example is a block of commands, with lines that its output must have.
type example struct {
	script string
	want   []string
	// whole is set for a command of a recorded session: the lines are all of its output, up to what differs from run to run.
	whole bool
	// responses are the JSON documents that the page shows as whole responses.
	responses []string
}

// differs is what a command prints anew with each run: speeds, ids, secrets, references, times, numbers, and the spaces that follow
// from their lengths.
var differs = regexp.MustCompile(`; \d+ s, \d+ rows/s|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|gft_\S+|[0-9a-f]{64}|` +
	`\bG[A-Z](-[0-9A-Z]{5}){2}|\d+(-\d+-\d+T[0-9:]+Z)?| {2,}`)

func masked(output string) string {
	return strings.TrimSpace(differs.ReplaceAllStringFunc(output, func(found string) string {
		switch {
		case strings.HasPrefix(found, ";"):
			return "" // A terminal has a bar in place of the speed.
		case strings.TrimSpace(found) == "":
			return "  "
		}
		return "0"
	}))
}

// session reads a recorded session of a terminal: commands after $, which go on after >, each with its output.
func session(block []string) (found []example) {
	for _, line := range block {
		if command, begins := strings.CutPrefix(line, "$ "); begins {
			found = append(found, example{script: command, whole: true})
			continue
		}
		last := &found[len(found)-1]
		if more, goesOn := strings.CutPrefix(line, "> "); goesOn && len(last.want) == 0 {
			last.script += "\n" + more
		} else {
			last.want = append(last.want, line)
		}
	}
	return found
}

// fails reports whether the page shows an error as the output.
func (e example) fails() bool {
	return len(e.want) > 0 && slices.ContainsFunc([]string{"Code: ", "Failed", "giftingctl: "}, func(beginning string) bool {
		return strings.HasPrefix(e.want[0], beginning)
	})
}

// examplesIn reads the blocks of sh, and the blocks of text that show what the commands before them print. A block in a list is
// indented. A block that cannot run on one machine is marked: <!-- not run: the reason -->.
func examplesIn(page string) (found []example) {
	var block []string
	var fence, before, indent string
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if fence == "" {
			indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
		}
		line = strings.TrimPrefix(line, indent)
		switch {
		case fence != "" && line == "```":
			switch {
			case fence == "```sh" && !strings.HasPrefix(before, "<!-- not run: "):
				found = append(found, example{script: strings.Join(block, "\n")})
			case fence == "```console" && strings.HasPrefix(block[0], "$ "):
				found = append(found, session(block)...)
			case fence == "```text" && len(found) > 0:
				found[len(found)-1].want = block
			case fence == "```json" && before == responseMark && len(found) > 0:
				last := &found[len(found)-1]
				last.responses = append(last.responses, strings.Join(block, "\n"))
			}
			fence, block, before = "", nil, ""
		case fence != "":
			block = append(block, line)
		case strings.HasPrefix(line, "```"):
			fence = line
		case line != "":
			before = line
		}
	}
	return found
}

func TestTheGoFilesThatThePagesNameExist(t *testing.T) {
	t.Parallel()
	var files strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && entry.Name() == ".local" {
			return fs.SkipDir
		}
		files.WriteString(path + "\n")
		return err
	}))
	for _, page := range pages(t) {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, named := range regexp.MustCompile("`([a-z_/-]+\\.go)`").FindAllStringSubmatch(string(content), -1) {
			require.Contains(t, files.String(), "/"+named[1]+"\n", "%s names %s, which does not exist", page, named[1])
		}
	}
}

func TestTheCommandsOfTheDocumentationRun(t *testing.T) {
	s := stack{harness.Start(t)}
	key := s.NewKey(t, seed.Approving).GetApiKey()
	brand := s.Array(t, key, "/brands")[0]["id"]
	// With the order of the page there are two pages of orders.
	s.Post(t, key, "/orders", s.Order(t, func(order map[string]any) { order["brandId"] = brand })).OK(t)
	s.delivered(t, s.Env["GIFTING_KEY"]) // Its deliveries are shown.
	dir := s.likeRepository(t)
	for _, path := range pages(t) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if examples := examplesIn(string(content)); len(examples) > 0 {
			t.Run(strings.TrimPrefix(path, root+"/"), func(t *testing.T) {
				outputs := runExamples(t, dir, examples)
				if s.updateResponses(t, path, examples, outputs) {
					return
				}
				for i, one := range examples {
					s.requireResponses(t, one.responses, outputs[i])
				}
			})
		}
	}
	t.Run("the quickstart of a tenant with another currency, whose orders wait for approval", func(t *testing.T) {
		content, err := os.ReadFile(filepath.Join(root, "gateway/docs/guides/quickstart.md"))
		require.NoError(t, err)
		tenant, _ := s.Get(t, key, "/me").OK(t)["tenant"].(map[string]any)
		require.Equal(t, "EUR", tenant["currency"])
		variables := example{script: fmt.Sprintf("export GIFTING_KEY=%s GIFTING_BRAND_ID=%s GIFTING_CURRENCY=EUR", key, brand)}
		runExamples(t, dir, append([]example{variables}, examplesIn(string(content))...))
	})
}

// runExamples runs the commands of a page in one shell, as a reader would, and returns their outputs.
func runExamples(t *testing.T, dir string, examples []example) []string {
	t.Helper()
	const end = "=== end of an example: "
	var script strings.Builder
	// The guides say to export the variables of the reader's own tenant. A page that installs the platform has none yet.
	script.WriteString("[ ! -e .local/demo.env ] || . .local/demo.env\n")
	for _, one := range examples {
		script.WriteString(one.script + "\necho '" + end + "'$?\n")
	}
	file := filepath.Join(t.TempDir(), "page.sh")
	require.NoError(t, os.WriteFile(file, []byte(script.String()), 0o600))
	command := exec.CommandContext(t.Context(), "sh", file)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+filepath.Join(dir, ".local", "bin")+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	outputs := strings.Split(string(output), end)
	require.Len(t, outputs, len(examples)+1, "%s", output)
	for i, one := range examples {
		if one.whole {
			printed := outputs[i]
			if i > 0 {
				_, printed, _ = strings.Cut(printed, "\n") // The exit code of the example before.
			}
			require.Equal(t, masked(strings.Join(one.want, "\n")), masked(printed), one.script)
		}
		for _, line := range one.want {
			require.True(t, one.whole || strings.Contains(outputs[i], line), "%s\n%s\nhas no %s", one.script, outputs[i], line)
		}
		require.Equal(t, !one.fails(), strings.HasPrefix(outputs[i+1], "0\n"), "%s\n%s", one.script, outputs[i])
	}
	return outputs
}

// likeRepository makes a folder that looks like the repository while `make run` is running: its .local has the stack's files
// and the built programs.
func (s stack) likeRepository(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs(root)
	require.NoError(t, err)
	own := filepath.Dir(local.EnvFile(s.Config.Dir))
	bin := filepath.Join(own, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	built, err := filepath.Glob(filepath.Join(source, ".local", "bin", "*"))
	require.NoError(t, err)
	for _, program := range built {
		if name := filepath.Base(program); name != "giftingctl" && name != "gifting" { // They are built below, as they are now.
			require.NoError(t, os.Symlink(program, filepath.Join(bin, filepath.Base(program))))
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin,
		"github.com/partnergifting/platform/deploy/cmd/giftingctl", "github.com/partnergifting/platform/gateway/sdk/gifting")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	if !slices.Contains(built, filepath.Join(source, ".local", "bin", "grpcurl")) {
		build := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(source, ".tools"), "build",
			"-o", bin, "github.com/fullstorydev/grpcurl/cmd/grpcurl")
		build.Env = append(os.Environ(), "GOWORK=off")
		output, err := build.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(own, filepath.Join(dir, ".local")))
	entries, err := os.ReadDir(source)
	require.NoError(t, err)
	for _, entry := range entries {
		if name := entry.Name(); name != ".local" && name != ".git" {
			require.NoError(t, os.Symlink(filepath.Join(source, name), filepath.Join(dir, name)))
		}
	}
	return dir
}

func TestExamplesAreReadFromAPage(t *testing.T) {
	t.Parallel()
	page := "# Title\n\n1. List:\n\n   ```sh\n   make a\n   make b\n   ```\n\n" +
		"It prints:\n\n```text\nCode: NotFound\n```\n\n" +
		"<!-- not run: it needs a cluster -->\n\n```sh\nhelm install\n```\n\n" +
		"```json\n{}\n```\n\n```sh\nlast\n```\n\n<!-- response -->\n```json\n{}\n```\n\n" +
		"```console\n$ one \\\n> two\nid  7\n\nend\n$ three\n```\n\n```console\nmake x\n```\n"
	found := examplesIn(page)
	require.Equal(t, []example{
		{script: "make a\nmake b", want: []string{"Code: NotFound"}},
		{script: "last", responses: []string{"{}"}},
		{script: "one \\\ntwo", want: []string{"id  7", "", "end"}, whole: true},
		{script: "three", whole: true},
	}, found)
	require.True(t, found[0].fails())
	require.False(t, found[1].fails())
}

func TestOutputsAreComparedUpToWhatDiffers(t *testing.T) {
	t.Parallel()
	const printed = `id  5f0c3a2e-7d15-4a63-9d0e-0f3b8c1f2a77
api key     gft_sbx_abc
at 2026-01-31T12:00:00Z, 12 rows; 3 s, 4 rows/s`
	require.Equal(t, "id  0\napi key  0\nat 0, 0 rows", masked(printed+"\n"))
	require.NotEqual(t, masked("name  Fjord"), masked("name  Berg"))
}
