package deps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

var errNoPackages = errors.New("packages cannot be installed: needs root and apt-get")

// canInstall tells whether this process may install packages of the distribution.
func canInstall() bool {
	if os.Geteuid() != 0 {
		return false
	}
	_, err := exec.LookPath("apt-get")
	return err == nil
}

// installPackages installs packages without asking and without recommended extras.
func installPackages(ctx context.Context, packages ...string) error {
	if !canInstall() {
		return errNoPackages
	}
	if err := aptGet(ctx, "update", "-q"); err != nil {
		return err
	}
	return aptGet(ctx, append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)...)
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...) //nolint:gosec // fixed package names
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
	}
	return nil
}
