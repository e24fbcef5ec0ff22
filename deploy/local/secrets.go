package local

import (
	"crypto/rand"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
)

// secrets of a stack by name. They are made when first needed and kept, because encrypted data cannot be read without its key.
type secrets map[string]string

const (
	fingerprintKey = "fingerprintKey"
	relayPassword  = "relayPassword"
	eventKeys      = "eventKeys"
)

func readSecrets(dir string) (secrets, error) {
	path := filepath.Join(dir, "secrets.json")
	s := secrets{}
	if err := readJSON(path, &s); err != nil {
		return nil, err
	}
	known := maps.Clone(s)
	s.add(fingerprintKey, bootstrap.NewKey())
	s.add(relayPassword, rand.Text())
	s.add(eventKeys, "local:"+bootstrap.NewKey())
	for _, p := range programs.All() {
		if _, seals := p.Settings["GIFTING_SEAL_KEYS"]; seals {
			s.add(p.Database+"SealKeys", "local:"+bootstrap.NewKey())
		}
	}
	if maps.Equal(s, known) {
		return s, nil
	}
	return s, writeJSON(path, s)
}

func (s secrets) add(name, value string) {
	if s[name] == "" {
		s[name] = value
	}
}

// sealKeys is the key ring of the program.
func (s secrets) sealKeys(p programs.Program) string { return s[p.Database+"SealKeys"] }

// certificates is the folder with the stack's own authority and a certificate for every caller.
type certificates struct{ bootstrap.Certificates }

// newCertificates makes the certificates that are missing or near expiry, and keeps the others.
func newCertificates(dir string, now time.Time) (certificates, error) {
	dir, err := filepath.Abs(filepath.Join(dir, "tls"))
	if err != nil {
		return certificates{}, fmt.Errorf("folder of certificates: %w", err)
	}
	c := certificates{bootstrap.Certificates{Dir: dir, Authority: "Partner Gifting on this machine"}}
	_, err = c.Make(now)
	return c, err
}
