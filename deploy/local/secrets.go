package local

import (
	"crypto/rand"
	"encoding/base64"
	"path/filepath"
)

// SecretsFile is where a stack keeps its secrets, in its folder.
const SecretsFile = "secrets.json"

// secrets are made at the first start and kept: without them nothing that was sealed can be opened again.
type secrets struct {
	// The seal keys are key rings, one for each service that seals.
	TenantsSealKeys string `json:"tenantsSealKeys"`
	OrdersSealKeys  string `json:"ordersSealKeys"`
	LinksSealKeys   string `json:"linksSealKeys"`
	// FingerprintKey keys the hashes of requests.
	FingerprintKey string `json:"fingerprintKey"`
	// RelayPassword is of the database login that reads the outboxes.
	RelayPassword string `json:"relayPassword"`
}

func readSecrets(dir string) (secrets, error) {
	path := filepath.Join(dir, SecretsFile)
	var s secrets
	found, err := readJSON(path, &s)
	if err != nil || found {
		return s, err
	}
	s = secrets{
		TenantsSealKeys: "local:" + newKey(),
		OrdersSealKeys:  "local:" + newKey(),
		LinksSealKeys:   "local:" + newKey(),
		FingerprintKey:  newKey(),
		RelayPassword:   rand.Text(),
	}
	return s, writeJSON(path, s)
}

func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // Never fails.
	return base64.StdEncoding.EncodeToString(key)
}
