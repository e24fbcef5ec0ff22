package bootstrap

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

// Secrets is a folder with the secret settings of the programs. It has a folder for each Secret of the chart, with a file for each
// key of it, as `kubectl create secret generic --from-file` reads them.
type Secrets struct{ dir string }

// Stores are the servers that the programs log in to.
type Stores struct {
	// Postgres is host:port, several separated by commas, and Options the parameters of the connections, such as
	// sslmode=verify-full.
	Postgres, Options string
	// Redis is a URL; empty: each gateway counts requests against the rate limits on its own.
	Redis string
	// Prefix is what the names of databases and roles begin with, so that two installations can share a server.
	Prefix string
}

var (
	prefixForm = regexp.MustCompile(`^([a-z][a-z0-9_]{0,39})?$`)

	errPrefix = errors.New("the prefix must be at most 40 lower-case letters, digits and underscores, a letter first")
	errSecret = errors.New("no such secret, `bootstrap keys` makes it")
	errMaker  = errors.New("bootstrap does not know how to make the secret")
	errHosts  = errors.New("the address of PostgreSQL must be host:port, several separated by commas")
	errParams = errors.New("the parameters of connections must be name=value, separated by &")
	errRedis  = errors.New("the address of Redis must be a URL such as rediss://:password@host:6379")
	errEmpty  = errors.New("the secret is empty: restore it from the vault, or remove the file to make a new one")
	errOthers = errors.New("others may read or change the secret: chmod 600")
)

// OpenSecrets reads secrets that WriteSecrets has made.
func OpenSecrets(dir string) Secrets { return Secrets{dir: dir} }

// WriteSecrets makes the missing secrets and returns their paths. It never changes one that exists.
func WriteSecrets(dir string, stores Stores) (made []string, err error) {
	if err := stores.check(); err != nil {
		return nil, err
	}
	s := Secrets{dir: dir}
	for _, p := range programs.All() {
		for _, field := range p.Fields {
			if !field.Secret {
				continue
			}
			value, err := stores.value(p, field.Variable)
			if err != nil {
				return made, err
			}
			if made, err = writeMissing(made, s.Path(p.Name, field.Variable), value); err != nil {
				return made, err
			}
		}
		if p.Database == "" {
			continue
		}
		value := stores.databaseURL(p.Database+migrateSuffix, rand.Text(), p.Database)
		if made, err = writeMissing(made, s.MigrationPath(p.Name), value); err != nil {
			return made, err
		}
	}
	return made, nil
}

// check makes sure that the URLs of databases can be built. No error repeats an address, which may have a password.
func (s Stores) check() error {
	if !prefixForm.MatchString(s.Prefix) {
		return errPrefix
	}
	for host := range strings.SplitSeq(s.Postgres, ",") {
		if host == "" || strings.ContainsAny(host, "/@?#%\"\\ \t\r\n") {
			return errHosts
		}
	}
	if _, err := url.ParseQuery(s.Options); err != nil || strings.ContainsAny(s.Options, "# \t\r\n") {
		return errParams
	}
	if s.Redis == "" {
		return nil
	}
	if u, err := url.Parse(s.Redis); err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" {
		return errRedis
	}
	return nil
}

const (
	databaseURL   = settings.Prefix + "DATABASE_URL"
	redisURL      = settings.Prefix + "REDIS_URL"
	eventKeys     = settings.Prefix + "EVENT_KEYS"
	outboxSources = settings.Prefix + "OUTBOX_SOURCES"
	kafkaPassword = settings.Prefix + "KAFKA_SASL_PASSWORD"
	cellDatabases = settings.Prefix + "CELL_DATABASES"

	// Roles: the one that migrates a database owns it; the relay's may only use outboxes.
	migrateSuffix = "_migrate"
	relayLogin    = "relay_login"
)

// Path is the file with the value of a secret setting of the program. Redis and the keys of events are the same for all.
func (s Secrets) Path(program identity.Name, variable string) string {
	switch variable {
	case redisURL:
		return filepath.Join(s.dir, "gifting-redis", "url")
	case eventKeys:
		return filepath.Join(s.dir, "gifting-event-keys", "event-keys")
	}
	key := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, settings.Prefix), "_", "-"))
	if variable == kafkaPassword {
		key = "kafka-password"
	}
	return filepath.Join(s.dir, "gifting-"+string(program), key)
}

// MigrationPath is the file with the URL for the migration of the program's database.
func (s Secrets) MigrationPath(program identity.Name) string {
	return filepath.Join(s.dir, "gifting-"+string(program), "migration-database-url")
}

// value makes the value of a secret setting; empty: it comes from elsewhere, or is not needed.
func (s Stores) value(p programs.Program, variable string) (string, error) {
	switch variable {
	case databaseURL:
		return s.databaseURL(p.Database, rand.Text(), p.Database), nil
	case redisURL:
		return s.Redis, nil
	case outboxSources:
		password, sources := rand.Text(), []string(nil)
		for _, other := range programs.All() {
			if other.Outbox {
				sources = append(sources, other.Database+"="+s.databaseURL(relayLogin, password, other.Database))
			}
		}
		return strings.Join(sources, ","), nil
	case kafkaPassword:
		return "", nil // Kafka's administrator sets it, see deploy/kafka.
	case cellDatabases:
		return "", nil // Only with further cells, see deploy/production/cells.md.
	case settings.Prefix + "FINGERPRINT_KEY":
		return NewKey(), nil
	case settings.Prefix + "SEAL_KEYS", eventKeys:
		return "k1:" + NewKey(), nil
	default:
		return "", fmt.Errorf("%w %s of %s", errMaker, variable, p.Name)
	}
}

// databaseURL is the URL by which a role, named without the prefix, logs in to a database.
func (s Stores) databaseURL(role, password, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(s.Prefix+role, password), Host: s.Postgres, Path: "/" + s.Prefix + database,
		RawQuery: s.Options,
	}
	return u.String()
}

// NewKey makes a random key of 32 bytes, in base64.
func NewKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // It never fails.
	return base64.StdEncoding.EncodeToString(key)
}

// writeMissing writes the file unless it exists or the value is empty, and appends its path to made.
func writeMissing(made []string, path, value string) ([]string, error) {
	if value == "" {
		return made, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
		return made, err
	}
	err := fs.ErrExist
	if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
		err = createFile(path, []byte(value))
	}
	if errors.Is(err, fs.ErrExist) {
		return made, checkSecret(path)
	}
	if err != nil {
		return made, err
	}
	return append(made, path), nil
}

// checkSecret refuses a file that is empty, or that others may read or change.
func checkSecret(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return fmt.Errorf("%s: %w", path, errEmpty)
	case info.Mode().Perm()&^Private != 0:
		return fmt.Errorf("%s: %w", path, errOthers)
	}
	return nil
}

// Read returns the value of a secret setting of the program. Without a file it is empty, or an error if it is required.
func (s Secrets) Read(program identity.Name, field settings.Field) (string, error) {
	value, err := readSecret(s.Path(program, field.Variable))
	if errors.Is(err, fs.ErrNotExist) && !field.Required {
		return "", nil
	}
	return value, err
}

func readSecret(path string) (string, error) {
	content, err := os.ReadFile(path) //nolint:gosec // The folder is named by who runs the command.
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w: %w", path, errSecret, err)
	}
	return strings.TrimSpace(string(content)), err
}
