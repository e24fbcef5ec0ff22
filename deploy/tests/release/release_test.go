//go:build release

package release_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/release"
)

const root = "../../.."

// released is what `make release` has built in a clone of the repository.
type released struct {
	root, version string
	index         v1.ImageIndex
	images        map[string]v1.Image // by architecture
}

func open(t *testing.T, in string) released {
	t.Helper()
	in, err := filepath.Abs(in)
	require.NoError(t, err)
	r := released{root: in, images: map[string]v1.Image{}}
	r.version, err = release.Version(in)
	require.NoError(t, err)
	r.index, err = layout.ImageIndexFromPath(r.path("image"))
	require.NoError(t, err, "run `make release`")
	manifest, err := r.index.IndexManifest()
	require.NoError(t, err)
	for _, one := range manifest.Manifests {
		r.images[one.Platform.Architecture], err = r.index.Image(one.Digest)
		require.NoError(t, err)
	}
	return r
}

func (r released) path(name ...string) string {
	return filepath.Join(append([]string{r.root, ".local", "release"}, name...)...)
}

func (r released) digest(t *testing.T) string {
	t.Helper()
	digest, err := r.index.Digest()
	require.NoError(t, err)
	return digest.String()
}

// command runs a program in a folder, and returns what it prints.
func command(t *testing.T, folder string, env []string, program string, args ...string) string {
	t.Helper()
	output, err := try(t.Context(), folder, env, program, args...)
	require.NoError(t, err, "%s %v\n%s", program, args, output)
	return output
}

func try(ctx context.Context, folder string, env []string, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = folder, slices.Concat(os.Environ(), env)
	output, err := c.CombinedOutput()
	return string(output), err
}

// artefact is one thing that a release publishes.
type artefact struct {
	name   string
	size   int64
	digest string
}

// artefacts are all that were built. The lists of modules have the time at which they were made.
func (r released) artefacts(t *testing.T) (found []artefact) {
	t.Helper()
	for _, folder := range []string{"files", "packages"} {
		require.NoError(t, filepath.WalkDir(r.path(folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, ".sigstore.json") {
				return err
			}
			content, err := os.ReadFile(path)
			found = append(found, artefact{entry.Name(), int64(len(content)), fmt.Sprintf("sha256:%x", sha256.Sum256(content))})
			return err
		}))
	}
	whole := artefact{"platform:" + r.version, 0, r.digest(t)}
	for architecture, image := range r.images {
		manifest, err := image.Manifest()
		require.NoError(t, err)
		digest, err := image.Digest()
		require.NoError(t, err)
		found = append(found, artefact{whole.name + " linux/" + architecture, manifest.Layers[0].Size, digest.String()})
		whole.size += manifest.Layers[0].Size
	}
	slices.SortFunc(found, func(a, b artefact) int { return strings.Compare(a.name, b.name) })
	return append(found, whole)
}

func TestARelease(t *testing.T) { //nolint:paralleltest // Its parts use what others have built and published.
	r := open(t, root)
	t.Run("is built again to the byte", r.testAgain)
	t.Run("has programs that start from the image", r.testImage)
	t.Run("has command lines, and checksums of everything", r.testCommandLines)
	t.Run("lists its Go modules", r.testModules)
	t.Run("goes to a registry", r.testRegistry)
	t.Run("goes to package indexes", r.testPackages)
	t.Run("goes to people who download it", r.testDownload)
	t.Run("tags the Go modules", r.testGoModules)
	t.Run("is published by the workflow with each of these steps", r.testWorkflow)
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "artefact\tbytes\tdigest")
	for _, a := range r.artefacts(t) {
		fmt.Fprintf(w, "%s\t%d\t%s\n", a.name, a.size, a.digest)
	}
	require.NoError(t, w.Flush())
	fmt.Print(table.String())
}

// testAgain builds in a copy of the repository, elsewhere; with COLD of the Makefile also with nothing compiled before.
func (r released) testAgain(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	r.copySources(t, elsewhere)
	git := strings.TrimSpace(command(t, r.root, nil, "git", "rev-parse", "--absolute-git-dir"))
	env := []string{"GIT_DIR=" + git, "TZ=Pacific/Auckland"}
	if os.Getenv("GIFTING_TEST_COLD") != "" {
		env = append(env, "GOCACHE="+t.TempDir())
	}
	command(t, elsewhere, env, "sh", "-c", "umask 077 && make release")
	again := open(t, elsewhere)
	without := func(found []artefact) []artefact {
		return slices.DeleteFunc(found, func(a artefact) bool {
			return strings.HasSuffix(a.name, ".spdx.json") || a.name == "SHA256SUMS"
		})
	}
	require.Equal(t, without(r.artefacts(t)), without(again.artefacts(t)))
}

// copySources copies the files that git knows or would add, and links the tools that the Makefile has installed.
func (r released) copySources(t *testing.T, into string) {
	t.Helper()
	listed := command(t, r.root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(listed, "\x00") {
		info, err := os.Lstat(filepath.Join(r.root, name))
		if name == "" || err != nil || info.IsDir() { // It was removed, but not committed.
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(into, name)), 0o750))
		content, err := os.ReadFile(filepath.Join(r.root, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(into, name), content, info.Mode()))
		require.NoError(t, os.Chtimes(filepath.Join(into, name), info.ModTime(), info.ModTime())) // The tools are not made again.
	}
	require.NoError(t, os.MkdirAll(filepath.Join(into, ".local"), 0o750))
	for _, tools := range []string{".local/bin", ".local/python", "gateway/sdk/typescript/node_modules"} {
		require.NoError(t, os.Symlink(filepath.Join(r.root, tools), filepath.Join(into, tools)))
	}
}

func (r released) testImage(t *testing.T) {
	require.NoError(t, validate.Index(r.index))
	require.Len(t, r.images, 2)
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for architecture, image := range r.images {
		folder := t.TempDir()
		unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", folder)
		unpack.Stdin = mutate.Extract(image)
		output, err := unpack.CombinedOutput()
		require.NoError(t, err, string(output))
		for _, one := range programs.All() {
			path := filepath.Join(folder, string(one.Name))
			program, err := elf.Open(path)
			require.NoError(t, err)
			require.Equal(t, machines[architecture], program.Machine)
			require.Nil(t, program.Section(".interp"), "%s is not static", one.Name)
			if architecture == runtime.GOARCH {
				require.Equal(t, "v"+r.version+"\n", command(t, folder, nil, path, "version"))
			}
		}
		require.FileExists(t, filepath.Join(folder, "giftingctl"))
	}
}

func (r released) testCommandLines(t *testing.T) {
	command(t, r.path("files"), nil, "sha256sum", "--check", "--ignore-missing", "--strict", "SHA256SUMS")
	command(t, r.path("packages"), nil, "sha256sum", "--check", "--ignore-missing", "--strict", "../files/SHA256SUMS")
	for _, program := range []string{"gifting", "giftingctl"} {
		output := command(t, "", nil, r.path("files", program+"-"+runtime.GOOS+"-"+runtime.GOARCH), "--version")
		require.Contains(t, output, "v"+r.version)
	}
}

func (r released) testModules(t *testing.T) {
	for architecture := range r.images {
		content, err := os.ReadFile(r.path("files", "platform-linux-"+architecture+".spdx.json"))
		require.NoError(t, err)
		var list struct{ Packages []struct{ Name string } }
		require.NoError(t, json.Unmarshal(content, &list))
		for _, module := range []string{"github.com/jackc/pgx/v5", "google.golang.org/grpc", "stdlib"} {
			require.Contains(t, list.Packages, struct{ Name string }{module})
		}
	}
}
