package identity

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/settings"
)

// lookEvery is the shortest time between two checks of the files: there may be hundreds of new connections a second.
const lookEvery = time.Second

// Files are the certificate, key and authorities of a process, as of now.
type Files struct {
	cfg   Config
	clock func() time.Time
	log   *slog.Logger

	lock   sync.Mutex
	looked time.Time
	// seen describes the files when they were last read, with or without success.
	seen []os.FileInfo
	// refused means that the files last read could not be used.
	refused bool
	held    *material
}

// Open reads the files. It fails if they do not hold an identity that is valid now.
func Open(cfg Config, clock func() time.Time, log *slog.Logger) (*Files, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Validate()); err != nil {
		return nil, err
	}
	f := &Files{cfg: cfg, clock: clock, log: log, looked: clock()}
	var err error
	if f.seen, err = f.look(); err != nil {
		return nil, err
	}
	f.held, err = f.read()
	return f, err
}

// Until is when the certificate in use expires.
func (f *Files) Until() time.Time { return f.current().certificate.Leaf.NotAfter }

// current returns the contents of the files and reads them again if they have changed.
func (f *Files) current() *material {
	f.lock.Lock()
	defer f.lock.Unlock()
	now := f.clock()
	if now.Sub(f.looked) < lookEvery {
		return f.held
	}
	f.looked = now
	found, err := f.look()
	if err != nil {
		// The files are being replaced or are gone: the contents read before stay in use.
		f.warn(err)
		return f.held
	}
	changed := !same(f.seen, found)
	// Files that could not be used are read again even if unchanged: a certificate that is not valid yet becomes valid.
	if !changed && !f.refused {
		return f.held
	}
	// Taken before the files are read, so that a change in between is noticed next time.
	f.seen = found
	read, err := f.read()
	f.refused = err != nil
	if err != nil {
		if changed {
			f.warn(err)
		}
		return f.held
	}
	f.held = read
	f.log.LogAttrs(context.Background(), slog.LevelInfo, "new certificate in use",
		slog.String("file", f.cfg.CertFile), slog.Time("until", read.certificate.Leaf.NotAfter))
	return read
}

func (f *Files) warn(err error) {
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "certificate files cannot be used, the previous certificate stays in use",
		slog.String("file", f.cfg.CertFile), slog.Any("error", err))
}

// look follows symbolic links, which is how Kubernetes replaces all files of a secret at once.
func (f *Files) look() ([]os.FileInfo, error) {
	var found []os.FileInfo
	for _, path := range []string{f.cfg.CertFile, f.cfg.KeyFile, f.cfg.CAFile} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		found = append(found, info)
	}
	return found, nil
}

func same(before, now []os.FileInfo) bool {
	for i := range now {
		if !os.SameFile(before[i], now[i]) || before[i].Size() != now[i].Size() || !before[i].ModTime().Equal(now[i].ModTime()) {
			return false
		}
	}
	return true
}
