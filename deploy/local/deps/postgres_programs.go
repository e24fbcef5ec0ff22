package deps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

var errNoServer = errors.New("no PostgreSQL server programs")

// embeddedVersion is downloaded where packages cannot be installed.
const embeddedVersion = embedded.V17

// choosePrograms finds server programs that fit the data: on the path, in the folders of distributions, or downloaded by an
// earlier start. If there are none, it installs or downloads them.
func (c *cluster) choosePrograms(ctx context.Context) error {
	version, err := c.dataVersion()
	if err != nil {
		return fmt.Errorf("read data version: %w", err)
	}
	c.programs = c.findPrograms(ctx, version)
	if c.programs != "" {
		return nil
	}
	if canInstall() {
		c.Log.Info("no PostgreSQL server found, installing the distribution's package")
		err = installPostgreSQL(ctx)
	} else {
		c.Log.Info("no PostgreSQL server found, fetching an embedded build", "version", embeddedVersion)
		err = c.fetchEmbedded(ctx)
	}
	if err != nil {
		return err
	}
	c.programs = c.findPrograms(ctx, version)
	if c.programs == "" {
		return fmt.Errorf("%w for version %q of the data in %s", errNoServer, version, c.data())
	}
	return nil
}

func (c *cluster) findPrograms(ctx context.Context, version string) string {
	for _, dir := range c.candidates() {
		major, err := majorVersion(ctx, dir)
		if err == nil && (version == "" || version == major) {
			return dir
		}
	}
	return ""
}

// candidates lists directories that may hold server programs, the newest distribution package first.
func (c *cluster) candidates() []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	packaged, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	slices.SortFunc(packaged, func(a, b string) int { return packageVersion(b) - packageVersion(a) })
	dirs = append(dirs, packaged...)
	return append(dirs, filepath.Join(c.embeddedDir(), "bin"))
}

func packageVersion(bin string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin))) // 0 for a directory that is not a version
	return version
}

// majorVersion returns the version of the server program in dir, which must have initdb beside it.
func majorVersion(ctx context.Context, dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return "", err
	}
	output, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output() //nolint:gosec // a candidate
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(output), "(PostgreSQL) ")
	major, _, _ := strings.Cut(version, ".")
	return major, nil
}

// canInstall reports whether this process may install packages of the distribution.
func canInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

var errNoPackages = errors.New("packages cannot be installed: needs root and apt-get")

// installPackages installs packages without prompts and without recommended packages.
func installPackages(ctx context.Context, packages ...string) error {
	if !canInstall() {
		return errNoPackages
	}
	for _, args := range [][]string{
		{"update", "-q"}, append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...) //nolint:gosec // Fixed package names.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
		}
	}
	return nil
}

// installPostgreSQL installs the server, without the cluster that the package would create and start.
func installPostgreSQL(ctx context.Context) error {
	if err := installPackages(ctx, "postgresql-common"); err != nil {
		return err
	}
	const settings = "/etc/postgresql-common/createcluster.conf"
	before, err := os.ReadFile(settings)
	if err != nil {
		return fmt.Errorf("package settings: %w", err)
	}
	without := append(slices.Clone(before), "\ncreate_main_cluster = false\n"...)
	if err := os.WriteFile(settings, without, 0o644); err != nil { //nolint:gosec // as the package installs it
		return fmt.Errorf("package settings: %w", err)
	}
	installed := installPackages(ctx, "postgresql")
	restored := os.WriteFile(settings, before, 0o644) //nolint:gosec // as the package installs it
	return errors.Join(installed, restored)
}

func (c *cluster) embeddedDir() string {
	return filepath.Join(c.home, "programs")
}

// fetchEmbedded downloads server programs. The library only downloads when it starts a server. This start ends at an encoding that
// initdb refuses: a server would outlive this process if that is killed, and could not run as root.
func (c *cluster) fetchEmbedded(ctx context.Context) error {
	scratch := filepath.Join(c.home, "fetch")
	if err := os.RemoveAll(scratch); err != nil {
		return fmt.Errorf("fetch PostgreSQL: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	fetched := filepath.Join(scratch, "programs")
	refused := embedded.NewDatabase(embedded.DefaultConfig().
		Version(embeddedVersion).
		Port(uint32(c.Port)). //nolint:gosec // a port
		CachePath(filepath.Join(scratch, "cache")).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(filepath.Join(scratch, "data")).
		BinariesPath(fetched).
		Encoding("none").
		Logger(nil)).Start()
	if err := c.adopt(ctx, fetched); err != nil {
		return fmt.Errorf("fetch PostgreSQL: %w", errors.Join(refused, err))
	}
	return nil
}

// adopt gives a folder of server programs its name if initdb works with them, so that an incomplete one is fetched again.
func (c *cluster) adopt(ctx context.Context, fetched string) error {
	if err := c.initdb(ctx, filepath.Join(fetched, "bin"), fetched+".trial"); err != nil {
		return err
	}
	if err := os.RemoveAll(c.embeddedDir()); err != nil {
		return err
	}
	return os.Rename(fetched, c.embeddedDir())
}
