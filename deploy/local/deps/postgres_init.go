package deps

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// readPassword reads the superuser's password, made on the first start: any local user can reach a loopback port, and
// a superuser can run programs. Ephemeral data is nothing worth guarding and connects faster without.
func (c *cluster) readPassword() error {
	if c.Ephemeral {
		return nil
	}
	text, err := os.ReadFile(c.passwordFile())
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(rand.Text())
		err = os.WriteFile(c.passwordFile(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("password: %w", err)
	}
	c.password = trimmed(text)
	if err := c.user.own(c.passwordFile()); err != nil {
		return fmt.Errorf("password: %w", err)
	}
	return nil
}

func (c *cluster) passwordFile() string {
	return filepath.Join(c.home, "password")
}

// initialise creates the data directory on the first start. It appears under its name only when it is complete, so that
// a start cut short is simply repeated.
func (c *cluster) initialise(ctx context.Context) error {
	version, err := c.dataVersion()
	if err != nil {
		return fmt.Errorf("read data version: %w", err)
	}
	if version != "" {
		return nil
	}
	fresh := c.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	if err := c.user.own(fresh); err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	if err := c.initdb(ctx, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, c.data()); err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	return nil
}

func (c *cluster) initdb(ctx context.Context, dir string) error {
	args := []string{"--pgdata", dir, "--username", superuser, "--encoding", "UTF8", "--no-locale"}
	if c.Ephemeral {
		args = append(args, "--no-sync", "--auth", "trust")
	} else {
		args = append(args, "--auth", "scram-sha-256", "--pwfile", c.passwordFile())
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, "initdb"), args...) //nolint:gosec // found or installed here
	cmd.Dir = dir
	cmd.SysProcAttr = c.user.attributes()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return nil
}

func trimmed(text []byte) string {
	return string(bytes.TrimSpace(text))
}
