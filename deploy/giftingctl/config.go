package giftingctl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/identity"
)

// Config is the content of the file of contexts.
type Config struct {
	// Current is the name of the context that commands use without --context.
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`

	path string
}

// Context says where the services are and who calls them.
type Context struct {
	// Addresses are host:port of the gRPC server of each program, by its name: tenants, catalog, orders, personal-links, events,
	// webhook, gateway.
	Addresses map[identity.Name]string `yaml:"addresses"`
	// Cells are the addresses of the programs of further cells, by the letter of the cell. With them, a command about a tenant asks
	// first in which cell the tenant is.
	Cells map[string]map[identity.Name]string `yaml:"cells,omitempty"`
	// Metrics are host:port of the metrics ports of each program, for status; several separated by commas.
	Metrics map[identity.Name]string `yaml:"metrics,omitempty"`
	// CA, Certificate and Key are PEM files. A relative path begins in the folder of the file of contexts.
	CA          string `yaml:"ca"`
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// TrustDomain of the certificates; empty means partner-gifting.
	TrustDomain string `yaml:"trustDomain,omitempty"`
	// Actor is the person for whom the commands act.
	Actor Actor `yaml:"actor,omitempty"`
	// Tenant is the id of the tenant that commands use without --tenant.
	Tenant string `yaml:"tenant,omitempty"`
}

// Actor is a person in the directory of the calling system.
type Actor struct {
	// Kind is tenant-account, tenant-client, backoffice-account or system.
	Kind string `yaml:"kind"`
	ID   string `yaml:"id,omitempty"`
	Name string `yaml:"name,omitempty"`
}

var (
	errNoContexts  = errors.New("there is no file of contexts")
	errNoHome      = errors.New("name the file of contexts by --config or GIFTINGCTL_CONFIG: HOME is not set")
	errNoContext   = errors.New("no context is chosen")
	errContext     = errors.New("there is no such context")
	errCertificate = errors.New("the context has no certificate")
)

// DefaultPath is the file of contexts without --config: that of GIFTINGCTL_CONFIG, else giftingctl.yaml in the user's folder of
// settings. Without a home it is empty: a file in the current folder could be that of an attacker.
func DefaultPath() string {
	if path := os.Getenv("GIFTINGCTL_CONFIG"); path != "" {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "giftingctl.yaml")
}

// readConfig reads the file of contexts. An unknown field is an error.
func readConfig(path string) (*Config, error) {
	if path == "" {
		return nil, terminal.AsUsageError(errNoHome)
	}
	content, err := os.ReadFile(path) //nolint:gosec // The user names the file.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.AsUsageError(fmt.Errorf("%w: %s. See giftingctl context --help", errNoContexts, path))
	}
	if err = errors.Join(err, checkConfig(path)); err != nil {
		return nil, terminal.AsUsageError(err)
	}
	c := &Config{path: path}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, terminal.AsUsageError(fmt.Errorf("%s: %w", path, err))
	}
	return c, nil
}

// Write replaces the file, which only its owner may read.
func (c Config) Write(path string) error {
	content, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return bootstrap.WriteFile(path, content)
}

// names are the names of the contexts, sorted.
func (c *Config) names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// named returns a context; an empty name means the current one.
func (c *Config) named(name string) (string, Context, error) {
	if name == "" {
		name = c.Current
	}
	if name == "" {
		return "", Context{}, terminal.AsUsageError(
			fmt.Errorf("%w: giftingctl context use NAME, with one of %v", errNoContext, c.names()))
	}
	found, ok := c.Contexts[name]
	if !ok {
		return "", Context{}, terminal.AsUsageError(fmt.Errorf("%w: %s is none of %v in %s", errContext, name, c.names(), c.path))
	}
	return name, found, nil
}

// identity returns the paths of the certificate files of a context.
func (c *Config) identity(name string, from Context) (identity.Config, error) {
	files := identity.Config{
		CAFile: c.resolve(from.CA), CertFile: c.resolve(from.Certificate), KeyFile: c.resolve(from.Key),
		TrustDomain: from.TrustDomain,
	}
	if !files.Secure() {
		return files, terminal.AsUsageError(fmt.Errorf("%w: set ca, certificate and key of %s in %s", errCertificate, name, c.path))
	}
	return files, nil
}

// resolve makes a relative path begin in the folder of the file of contexts.
func (c *Config) resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.path), path)
}
