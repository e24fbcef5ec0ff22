// Package testenv finds the servers that tests run on: in the environment, where `make test` puts them, or in the file
// .local/test.env of the repository, which `make deps` writes.
package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The variables of the servers.
const (
	// PostgresURL is the URL of a role that may create databases.
	PostgresURL  = "GIFTING_TEST_POSTGRES_URL"
	RedisURL     = "GIFTING_TEST_REDIS_URL"
	KafkaBrokers = "GIFTING_TEST_KAFKA_BROKERS"
	// KafkaKind is apache, embedded or given.
	KafkaKind = "GIFTING_TEST_KAFKA_KIND"
)

// Lookup returns the value of the variable, or an empty text.
func Lookup(variable string) string {
	if value := os.Getenv(variable); value != "" {
		return value
	}
	return file()[variable]
}

// Require returns the value of the variable and fails the test when there is none.
func Require(t testing.TB, variable string) string {
	t.Helper()
	value := Lookup(variable)
	require.NotEmpty(t, value, "no %s: run `make deps` once, or run the tests with `make test`", variable)
	return value
}

// File is the path of the file below the root of the repository.
const File = ".local/test.env"

// file reads the file in the first folder at or above the current one that has it.
var file = sync.OnceValue(func() map[string]string {
	dir, err := os.Getwd()
	values := map[string]string{}
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		text, missing := os.ReadFile(filepath.Join(dir, File)) //nolint:gosec // The file of `make deps`, found upward from the package.
		if missing != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
			values[name] = value
		}
		break
	}
	return values
})
