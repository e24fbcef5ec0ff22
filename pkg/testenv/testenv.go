// Package testenv finds the servers that tests run on: in the environment, where `make test` puts them, or in the file
// .local/test.env of the repository, which `make deps` writes.
package testenv

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// The ports of FreeAddr. The system gives these to no connection, so none of them is taken between FreeAddr and its use.
const (
	lowestPort  = 31_000
	highestPort = 32_700
)

// FreeAddr returns a loopback address that nothing listens on. No other test gets it before this one ends: its UDP port is
// bound until then.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range highestPort - lowestPort {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // Any port will do.
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		reserved, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", addr)
		if err != nil {
			continue
		}
		if listens(t.Context(), addr) {
			require.NoError(t, reserved.Close())
			continue
		}
		t.Cleanup(func() { require.NoError(t, reserved.Close()) })
		return addr
	}
	require.FailNow(t, "no port is free")
	return ""
}

// listens reports whether the TCP port of the address is taken.
func listens(ctx context.Context, addr string) bool {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	return err != nil || listener.Close() != nil
}

// AtMidnightToo is the TestMain of a package whose tests set their clocks from now. It runs them, and runs them again with now
// a tenth of a second before the next midnight: what is sorted or searched by day must not depend on the hour.
func AtMidnightToo(m *testing.M, now *time.Time) {
	code := m.Run()
	if code == 0 {
		*now = now.UTC().Truncate(24 * time.Hour).Add(24*time.Hour - 100*time.Millisecond)
		fmt.Println("again at", now.Format(time.RFC3339Nano))
		code = m.Run()
	}
	os.Exit(code)
}

// EntropyBits estimates the randomness of texts of one length, in bits per text. Each position counts with the number of different
// characters seen there. A thousand texts are enough for an alphabet of 64.
func EntropyBits(texts []string) float64 {
	var sum float64
	for place := range texts[0] {
		seen := map[byte]bool{}
		for _, text := range texts {
			seen[text[place]] = true
		}
		sum += math.Log2(float64(len(seen)))
	}
	return sum
}
