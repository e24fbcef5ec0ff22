// Package seal encrypts the columns and the members of events that hold personal data and secrets: AES-256-GCM with a ring of
// keys by id. New values are sealed under the ring's first key; older keys stay in the ring until [ReEncrypt] has moved all
// values to the first key. A [RingCheck] keeps a service from starting without a key that its database needs.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Errors of this package. They never contain sealed content.
var (
	ErrRing   = errors.New("key ring must be id:base64-of-32-bytes, separated by commas")
	ErrNoKey  = errors.New("sealed under a key that is not in the ring")
	ErrBroken = errors.New("sealed value does not open")
)

const (
	keyLen   = 32
	maxIDLen = 32
)

// Ring seals and opens. It is safe for concurrent use.
type Ring struct {
	active string
	aeads  map[string]cipher.AEAD
	macs   map[string][]byte
	// unreadable is called with the reason why a value did not open; it may be nil.
	unreadable func(error)
}

// ParseRing reads `id:base64,id:base64`; the first key is the active one.
func ParseRing(text string) (*Ring, error) {
	ring := &Ring{aeads: map[string]cipher.AEAD{}, macs: map[string][]byte{}}
	for entry := range strings.SplitSeq(text, ",") {
		id, encoded, ok := strings.Cut(strings.TrimSpace(entry), ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) != keyLen || id == "" || len(id) > maxIDLen {
			return nil, ErrRing
		}
		if err := ring.add(id, key); err != nil {
			return nil, err
		}
	}
	return ring, nil
}

func (r *Ring) add(id string, key []byte) error {
	if _, taken := r.aeads[id]; taken {
		return fmt.Errorf("%w: id %s is given twice", ErrRing, id)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return fmt.Errorf("seal key %s: %w", id, err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return fmt.Errorf("seal key %s: %w", id, err)
	}
	r.aeads[id], r.macs[id] = aead, macKey(key)
	if r.active == "" {
		r.active = id
	}
	return nil
}

// Seal encrypts plain. associated is the associated data, such as the record's id: with other data the value does not open.
func (r *Ring) Seal(plain []byte, associated string) []byte {
	aead := r.aeads[r.active]
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // It never fails.
	out := make([]byte, 0, 1+len(r.active)+len(nonce)+len(plain)+aead.Overhead())
	out = append(out, byte(len(r.active))) //nolint:gosec // At most maxIDLen.
	out = append(out, r.active...)
	out = append(out, nonce...)
	return aead.Seal(out, nonce, plain, []byte(associated))
}

// OnUnreadable lets report be called with the error of every value that Open cannot open. It is called once, before the ring is
// used.
func (r *Ring) OnUnreadable(report func(error)) { r.unreadable = report }

// Open decrypts a value that Seal made with the same associated data.
func (r *Ring) Open(sealed []byte, associated string) ([]byte, error) {
	plain, err := r.open(sealed, associated)
	if err != nil && r.unreadable != nil {
		r.unreadable(err)
	}
	return plain, err
}

// Check returns why Open would fail. It does not report the value as unreadable.
func (r *Ring) Check(sealed []byte, associated string) error {
	_, err := r.open(sealed, associated)
	return err
}

func (r *Ring) open(sealed []byte, associated string) ([]byte, error) {
	id, rest, err := split(sealed)
	if err != nil {
		return nil, err
	}
	aead, ok := r.aeads[id]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoKey, id)
	}
	if len(rest) < aead.NonceSize() {
		return nil, ErrBroken
	}
	nonce, text := rest[:aead.NonceSize()], rest[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, text, []byte(associated))
	if err != nil {
		return nil, ErrBroken
	}
	return plain, nil
}

// Stale reports whether the value was sealed under another key than the active one.
func (r *Ring) Stale(sealed []byte) bool {
	id, _, err := split(sealed)
	return err == nil && id != r.active
}

// Prefix is the beginning of every value sealed under the active key, and of no other, so that a query can find stale values.
func (r *Ring) Prefix() []byte {
	return append([]byte{byte(len(r.active))}, r.active...) //nolint:gosec // At most maxIDLen.
}

func split(sealed []byte) (id string, rest []byte, err error) {
	if len(sealed) == 0 || len(sealed) < 1+int(sealed[0]) {
		return "", nil, ErrBroken
	}
	n := 1 + int(sealed[0])
	return string(sealed[1:n]), sealed[n:], nil
}

// macKey derives the key of MAC, so that no key serves two purposes.
func macKey(key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("seal.MAC"))
	return h.Sum(nil)
}

// MAC is a fingerprint of a value that must not be stored. Without the key nobody can find the value by trial.
func (r *Ring) MAC(value string) []byte {
	return r.mac(r.active, value)
}

// HasKeyOf reports whether the ring has the key that made mac. Without it no value matches.
func (r *Ring) HasKeyOf(mac []byte) bool {
	id, _, err := split(mac)
	return err == nil && r.macs[id] != nil
}

// MatchesMAC reports whether MAC made mac of the value. It reports false for a key that is no longer in the ring.
func (r *Ring) MatchesMAC(mac []byte, value string) bool {
	id, _, err := split(mac)
	return err == nil && r.macs[id] != nil && hmac.Equal(mac, r.mac(id, value))
}

func (r *Ring) mac(id, value string) []byte {
	h := hmac.New(sha256.New, r.macs[id])
	h.Write([]byte(value))
	out := append([]byte{byte(len(id))}, id...) //nolint:gosec // At most maxIDLen.
	return h.Sum(out)
}
