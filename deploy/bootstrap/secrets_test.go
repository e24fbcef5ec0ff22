package bootstrap_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
)

var stores = bootstrap.Stores{
	Postgres: "db.example.com:5432", Options: "sslmode=verify-full", Redis: "rediss://redis.example.com:6379", Prefix: "gifting_",
}

// contents reads all files below the folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	folder := os.DirFS(dir)
	require.NoError(t, fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, path)
		found[path] = string(text)
		return err
	}))
	return found
}

// environment has the secrets of the program, and some value for what else it requires.
func environment(t *testing.T, dir string, p programs.Program) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, field := range p.Fields {
		switch {
		case field.Secret:
			value, err := bootstrap.OpenSecrets(dir).Read(p.Name, field)
			require.NoError(t, err)
			env[field.Variable] = value
		case !field.Required:
		case strings.Contains(field.Format, "host:port"):
			env[field.Variable] = "host.example.com:9000"
		case field.Variable == "GIFTING_IMAGES_URL":
			env[field.Variable] = "s3://bucket"
		case field.Variable == "GIFTING_ENVIRONMENT":
			env[field.Variable] = "production"
		default:
			env[field.Variable] = "https://example.com/c"
		}
	}
	return env
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "secrets")
	made, err := bootstrap.WriteSecrets(dir, stores)
	require.NoError(t, err)
	first := contents(t, dir)
	require.Len(t, made, len(first))

	t.Run("are all that the programs need, and each is accepted", func(t *testing.T) {
		t.Parallel()
		for _, p := range programs.All() {
			require.NoError(t, p.Load(environment(t, dir, p)), p.Name)
		}
	})
	t.Run("name the login, the database and the server", func(t *testing.T) {
		t.Parallel()
		require.Regexp(t, `^postgres://gifting_orders:[A-Z2-7]{26}@db\.example\.com:5432/gifting_orders\?sslmode=verify-full$`,
			first["gifting-orders/database-url"])
		require.Regexp(t, `^postgres://gifting_links_migrate:[A-Z2-7]{26}@`, first["gifting-personal-links/migration-database-url"])
		require.Regexp(t,
			`^orders=postgres://gifting_relay_login:([A-Z2-7]{26})@[^,]*/gifting_orders\?[^,]*,links=postgres://gifting_relay_login:`,
			first["gifting-events/outbox-sources"])
		require.Equal(t, stores.Redis, first["gifting-redis/url"])
	})
	t.Run("are readable by their owner only", func(t *testing.T) {
		t.Parallel()
		for name := range first {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
		}
	})
	t.Run("are never overwritten, and what is missing is made", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(other, os.DirFS(dir)))
		for name := range first {
			require.NoError(t, os.Chmod(filepath.Join(other, name), 0o600)) // CopyFS makes them readable for all.
		}
		require.NoError(t, os.Remove(filepath.Join(other, "gifting-orders", "seal-keys")))
		made, err := bootstrap.WriteSecrets(other, bootstrap.Stores{Postgres: "elsewhere", Prefix: "other_"})
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Join(other, "gifting-orders", "seal-keys")}, made)
		again := contents(t, other)
		require.NotEqual(t, first["gifting-orders/seal-keys"], again["gifting-orders/seal-keys"])
		again["gifting-orders/seal-keys"] = first["gifting-orders/seal-keys"]
		require.Equal(t, first, again)
	})
	t.Run("with a prefix that no name can have are refused", func(t *testing.T) {
		t.Parallel()
		_, err := bootstrap.WriteSecrets(t.TempDir(), bootstrap.Stores{Prefix: "a; DROP"})
		require.ErrorContains(t, err, "prefix")
	})
}

func TestASecretOfNoUseIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"empty, as after a copy that failed": {"", 0o600, "the secret is empty"},
		"readable by others":                 {"k1:AAAA", 0o644, "chmod 600"},
		"writable by a group":                {"k1:AAAA", 0o620, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "gifting-orders", "seal-keys")
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(tc.content), 0o600))
			require.NoError(t, os.Chmod(path, tc.mode))
			_, err := bootstrap.WriteSecrets(dir, stores)
			require.ErrorContains(t, err, path+": ")
			require.ErrorContains(t, err, tc.want)
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, tc.content, string(kept))
		})
	}
}

func TestSecretsOfOneFolderAreMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const runs = 4
	all := make(chan []string, runs)
	for range runs {
		go func() {
			made, err := bootstrap.WriteSecrets(dir, stores)
			if err != nil {
				made = []string{err.Error()}
			}
			all <- made
		}()
	}
	var made []string
	for range runs {
		made = append(made, <-all...)
	}
	files := contents(t, dir)
	require.Len(t, made, len(files), "two runs at once made the same secret")
	for path := range files {
		require.Contains(t, made, filepath.Join(dir, path))
	}
}

func TestAnAddressThatMakesNoURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]bootstrap.Stores{
		"a server with a path":       {Postgres: "secret.example.com:5432/other"},
		"a server with a login":      {Postgres: "root:secret@db:5432"},
		"a server with a space":      {Postgres: "db:5432, secret:5432"},
		"a server that is missing":   {Postgres: "secret:5432,"},
		"parameters with a fragment": {Postgres: "db:5432", Options: "sslmode=disable#secret"},
		"parameters with a line":     {Postgres: "db:5432", Options: "sslmode=disable\nsecret"},
		"Redis without a scheme":     {Postgres: "db:5432", Redis: "secret:6379"},
		"Redis of another scheme":    {Postgres: "db:5432", Redis: "https://:secret@redis"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := bootstrap.WriteSecrets(dir, wrong)
			require.ErrorContains(t, err, "must be")
			require.NotContains(t, err.Error(), "secret")
			require.Empty(t, contents(t, dir), "nothing was made")
		})
	}
}
