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

// lookEvery is how often at most the files are looked at: connections may come by the hundred.
const lookEvery = time.Second

// Files are the certificate, key and authorities of a process, as of now.
type Files struct {
	cfg   Config
	clock func() time.Time
	log   *slog.Logger

	lock   sync.Mutex
	looked time.Time
	// seen is what the files were when they were last read, well or badly.
	seen []os.FileInfo
	// refused: what was last read could not be used.
	refused bool
	held    *material
}

// Open reads the files. It fails when they do not make an identity that is valid now.
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

// Until is when the certificate in use ends.
func (f *Files) Until() time.Time { return f.current().certificate.Leaf.NotAfter }

// current returns what the files hold, read again if they have changed.
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
		// In the middle of being replaced, or gone: what was read stays good.
		f.warn(err)
		return f.held
	}
	changed := !same(f.seen, found)
	// Files that could not be used are read again as they are: a certificate of a signer whose clock is
	// ahead becomes valid without another change.
	if !changed && !f.refused {
		return f.held
	}
	// Looked at before they are read, so that a change in between is seen the next time.
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
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "certificate files cannot be used, the ones before stay",
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
