package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/settings"
)

// lookEvery is the shortest time between two checks of the files: there may be hundreds of new connections a second.
const lookEvery = time.Second

// CertContents are what a reader makes of the files.
type CertContents interface {
	// Until is when their certificate expires; the zero time if they have none.
	Until() time.Time
}

// CertFiles hold what certificate files contain, and read them again when they change, without a restart. Files that cannot be used
// are logged, and the previous contents stay in use.
type CertFiles[T CertContents] struct {
	paths []string
	read  func() (T, error)
	clock func() time.Time
	log   *slog.Logger

	lock     sync.Mutex
	lastLook time.Time
	// lastInfo describes the files when they were last read, with or without success.
	lastInfo []os.FileInfo
	// unusable means that the files last read could not be used.
	unusable bool
	contents T
}

// OpenCertFiles reads the files. The log names the first of the paths. It fails if the files cannot be used now.
func OpenCertFiles[T CertContents](
	paths []string, read func() (T, error), clock func() time.Time, log *slog.Logger,
) (*CertFiles[T], error) {
	f := &CertFiles[T]{paths: paths, read: read, clock: clock, log: log, lastLook: clock()}
	var err error
	if f.lastInfo, err = f.fileInfo(); err != nil {
		return nil, err
	}
	f.contents, err = f.read()
	return f, err
}

// Current returns the contents of the files and reads them again if they have changed.
func (f *CertFiles[T]) Current() T {
	f.lock.Lock()
	defer f.lock.Unlock()
	now := f.clock()
	if now.Sub(f.lastLook) < lookEvery {
		return f.contents
	}
	f.lastLook = now
	found, err := f.fileInfo()
	if err != nil {
		// The files are being replaced or are gone: the contents read before stay in use.
		f.warn(err)
		return f.contents
	}
	changed := !sameFiles(f.lastInfo, found)
	// Files that could not be used are read again even if unchanged: a certificate that is not valid yet becomes valid.
	if !changed && !f.unusable {
		return f.contents
	}
	// Taken before the files are read, so that a change in between is noticed next time.
	f.lastInfo = found
	read, err := f.read()
	f.unusable = err != nil
	if err != nil {
		if changed {
			f.warn(err)
		}
		return f.contents
	}
	f.contents = read
	f.log.LogAttrs(context.Background(), slog.LevelInfo, "new certificate in use",
		slog.String("file", f.paths[0]), slog.Time("until", read.Until()))
	return read
}

func (f *CertFiles[T]) warn(err error) {
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "certificate files cannot be used, the previous certificate stays in use",
		slog.String("file", f.paths[0]), slog.Any("error", err))
}

// fileInfo describes the files. It follows symbolic links, which is how Kubernetes replaces all files of a secret at once.
func (f *CertFiles[T]) fileInfo() ([]os.FileInfo, error) {
	var found []os.FileInfo
	for _, path := range f.paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		found = append(found, info)
	}
	return found, nil
}

func sameFiles(before, now []os.FileInfo) bool {
	for i := range now {
		if !os.SameFile(before[i], now[i]) || before[i].Size() != now[i].Size() || !before[i].ModTime().Equal(now[i].ModTime()) {
			return false
		}
	}
	return true
}

// Files are the certificate, key and authorities of a process, as of now.
type Files struct {
	cfg   Config
	clock func() time.Time
	files *CertFiles[*material]
}

// Open reads the files. It fails if they do not hold an identity that is valid now.
func Open(cfg Config, clock func() time.Time, log *slog.Logger) (*Files, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Validate()); err != nil {
		return nil, err
	}
	f := &Files{cfg: cfg, clock: clock}
	var err error
	f.files, err = OpenCertFiles([]string{cfg.CertFile, cfg.KeyFile, cfg.CAFile}, f.read, clock, log)
	return f, err
}

// Until is when the certificate in use expires.
func (f *Files) Until() time.Time { return f.current().Until() }

func (f *Files) current() *material { return f.files.Current() }

var (
	errAuthorities = errors.New("the file of authorities holds no certificate")
	errExpired     = errors.New("the certificate is not valid now")
)

// Certificate reads a certificate, which must be valid at the time, and its private key from PEM files.
func Certificate(certFile, keyFile string, now time.Time) (*tls.Certificate, error) {
	read, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate and key: %w", err)
	}
	if from, until := read.Leaf.NotBefore, read.Leaf.NotAfter; now.Before(from) || now.After(until) {
		return nil, fmt.Errorf("%w: from %s to %s", errExpired, from.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return &read, nil
}

// Authorities reads the certificates of authorities from a PEM file.
func Authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path) //nolint:gosec // A path of the configuration.
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errAuthorities
	}
	return pool, nil
}
