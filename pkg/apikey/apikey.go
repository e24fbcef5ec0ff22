// Package apikey is the form of an API key: gft_live_… in production, gft_sbx_… in sandbox, 32
// random base-62 characters (190 bits) and a checksum of six (API specification, section
// Authentication). Only the hash of a key is ever stored.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
)

// Environment names a deployment.
type Environment string

// The two deployments of the API.
const (
	Production Environment = "production"
	Sandbox    Environment = "sandbox"
)

// ErrEnvironment means that there is no deployment of that name.
var ErrEnvironment = errors.New("environment must be production or sandbox")

// Validate returns ErrEnvironment for anything but the two deployments.
func (e Environment) Validate() error {
	if e != Production && e != Sandbox {
		return fmt.Errorf("%w, not %q", ErrEnvironment, string(e))
	}
	return nil
}

// ErrMalformed means that a text is not an API key. The checksum finds mistyped and guessed keys without a database query.
var ErrMalformed = errors.New("not an API key")

const (
	livePrefix    = "gft_live_"
	sandboxPrefix = "gft_sbx_"
	alphabet      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomLen     = 32
	checksumLen   = 6
	// prefixRandomLen is how many of the random characters the prefix of a key has.
	prefixRandomLen = 6
)

// New makes a key of the environment.
func New(env Environment) string {
	var b strings.Builder
	b.WriteString(environmentPrefix(env))
	limit := big.NewInt(int64(len(alphabet)))
	for range randomLen {
		n, err := rand.Int(rand.Reader, limit)
		if err != nil {
			panic(err) // The system's source of randomness never fails.
		}
		b.WriteByte(alphabet[n.Int64()])
	}
	return b.String() + checksum(b.String())
}

// Parse returns the environment of a well-formed key.
func Parse(key string) (Environment, error) {
	env := Production
	rest, ok := strings.CutPrefix(key, livePrefix)
	if !ok {
		env = Sandbox
		rest, ok = strings.CutPrefix(key, sandboxPrefix)
	}
	if !ok || len(rest) != randomLen+checksumLen || strings.Trim(rest, alphabet) != "" {
		return "", ErrMalformed
	}
	body := key[:len(key)-checksumLen]
	if checksum(body) != key[len(key)-checksumLen:] {
		return "", ErrMalformed
	}
	return env, nil
}

// Hash is what is stored and looked up. A key has enough entropy for a plain hash.
func Hash(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Prefix is the leading part of a key, by which people recognize it. It is empty for a malformed key.
func Prefix(key string) string {
	env, err := Parse(key)
	if err != nil {
		return ""
	}
	return key[:len(environmentPrefix(env))+prefixRandomLen]
}

func environmentPrefix(env Environment) string {
	if env == Production {
		return livePrefix
	}
	return sandboxPrefix
}

func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	out := make([]byte, checksumLen)
	for i := range out {
		out[i] = alphabet[n%uint32(len(alphabet))]
		n /= uint32(len(alphabet))
	}
	return string(out)
}
