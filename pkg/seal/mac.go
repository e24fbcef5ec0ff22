package seal

import (
	"crypto/hmac"
	"crypto/sha256"
)

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
