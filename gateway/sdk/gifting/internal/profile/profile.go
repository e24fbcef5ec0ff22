// Package profile stores which API keys the program uses. The file of profiles has their addresses. A key is in the keyring of the
// operating system, or in the file, which then only its owner may read.
package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/zalando/go-keyring"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/replacefile"
)

// File is the content of the file of profiles.
type File struct {
	// Current is the name of the profile that commands use.
	Current  string             `yaml:"current,omitempty"`
	Profiles map[string]Profile `yaml:"profiles"`

	path string
}

// Profile is one key.
type Profile struct {
	// URL is the base address of the API.
	URL string `yaml:"url"`
	// Tenant and Environment of the key, for lists.
	Tenant      string `yaml:"tenant,omitempty"`
	Environment string `yaml:"environment,omitempty"`
	// Key is the API key, unless it is in the keyring.
	Key string `yaml:"key,omitempty"`
}

// Why a profile cannot be used.
var (
	ErrNone     = errors.New("there is no profile: gifting login, or set GIFTING_URL and GIFTING_KEY")
	ErrUnknown  = errors.New("there is no such profile")
	ErrNoHome   = errors.New("name the file of profiles by --config or GIFTING_CONFIG: HOME is not set")
	ErrReadable = errors.New("others may read the file of profiles, which has keys: chmod 600")
	ErrKeyring  = errors.New("the keyring does not have the key: log in again")
)

// ErrNotForgotten is a warning: the profile was stored or removed.
var ErrNotForgotten = errors.New("the keyring may still have the old key")

// service names the program's secrets in the keyring.
const service = "partner-gifting"

// DefaultPath is the file of profiles without --config and GIFTING_CONFIG. Without a home it is empty: a file in the current folder
// could be that of an attacker.
func DefaultPath() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "gifting.yaml")
}

// Read reads the file. A file that does not exist has no profiles.
func Read(path string) (*File, error) {
	if path == "" {
		return nil, ErrNoHome
	}
	f := &File{path: path}
	content, err := os.ReadFile(path) //nolint:gosec // The user names the file.
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrReadable)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Names of the profiles, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Profiles)) }

// Named returns a profile; an empty name means the current one.
func (f *File) Named(name string) (string, Profile, error) {
	if name == "" {
		name = f.Current
	}
	if name == "" {
		return "", Profile{}, ErrNone
	}
	found, ok := f.Profiles[name]
	if !ok {
		return "", Profile{}, fmt.Errorf("%w: %s is none of %v in %s", ErrUnknown, name, f.Names(), f.path)
	}
	return name, found, nil
}

// KeyOf returns the API key of a profile.
func (f *File) KeyOf(name string) (string, error) {
	name, p, err := f.Named(name)
	if err != nil || p.Key != "" {
		return p.Key, err
	}
	key, err := keyring.Get(service, account(name, p))
	if err != nil {
		return "", errors.Join(ErrKeyring, err)
	}
	return key, nil
}

// Add adds or replaces a profile, makes it the current one and writes the file. The key goes to the keyring if that is possible and
// not forbidden; inFile reports that it is in the file. The keyring does not keep the key of a profile that was replaced. If it
// cannot be deleted, Add returns ErrNotForgotten.
func (f *File) Add(name string, p Profile, key string, noKeyring bool) (inFile bool, err error) {
	if noKeyring || keyring.Set(service, account(name, p), key) != nil {
		p.Key, inFile = key, true
	}
	before, replaced := f.Profiles[name]
	if f.Profiles == nil {
		f.Profiles = map[string]Profile{}
	}
	f.Profiles[name], f.Current = p, name
	err = f.write()
	if err == nil && replaced && (inFile || account(name, before) != account(name, p)) {
		err = forget(name, before)
	}
	return inFile, err
}

// Use makes a profile the current one and writes the file.
func (f *File) Use(name string) error {
	if _, _, err := f.Named(name); err != nil {
		return err
	}
	f.Current = name
	return f.write()
}

// Remove removes a profile with its key and writes the file. It may return ErrNotForgotten.
func (f *File) Remove(name string) error {
	name, p, err := f.Named(name)
	if err != nil {
		return err
	}
	delete(f.Profiles, name)
	if f.Current == name {
		f.Current = ""
	}
	if err := f.write(); err != nil {
		return err
	}
	return forget(name, p)
}

// forget deletes the key of a profile from the keyring, if it is there.
func forget(name string, p Profile) error {
	if p.Key != "" {
		return nil
	}
	if err := keyring.Delete(service, account(name, p)); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("%w of the profile %s: %w", ErrNotForgotten, name, err)
	}
	return nil
}

// account names a key in the keyring.
func account(name string, p Profile) string { return name + " " + p.URL }

// write replaces the file, which only its owner may read.
func (f *File) write() error {
	content, err := yaml.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return replacefile.Write(f.path, content, 0o600)
}
