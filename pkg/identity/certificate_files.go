package identity

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"
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

	lock   sync.Mutex
	looked time.Time
	// seen describes the files when they were last read, with or without success.
	seen []os.FileInfo
	// refused means that the files last read could not be used.
	refused bool
	held    T
}

// OpenCertFiles reads the files. The log names the first of the paths. It fails if the files cannot be used now.
func OpenCertFiles[T CertContents](
	paths []string, read func() (T, error), clock func() time.Time, log *slog.Logger,
) (*CertFiles[T], error) {
	f := &CertFiles[T]{paths: paths, read: read, clock: clock, log: log, looked: clock()}
	var err error
	if f.seen, err = f.look(); err != nil {
		return nil, err
	}
	f.held, err = f.read()
	return f, err
}

// Current returns the contents of the files and reads them again if they have changed.
func (f *CertFiles[T]) Current() T {
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
		slog.String("file", f.paths[0]), slog.Time("until", read.Until()))
	return read
}

func (f *CertFiles[T]) warn(err error) {
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "certificate files cannot be used, the previous certificate stays in use",
		slog.String("file", f.paths[0]), slog.Any("error", err))
}

// look follows symbolic links, which is how Kubernetes replaces all files of a secret at once.
func (f *CertFiles[T]) look() ([]os.FileInfo, error) {
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

func same(before, now []os.FileInfo) bool {
	for i := range now {
		if !os.SameFile(before[i], now[i]) || before[i].Size() != now[i].Size() || !before[i].ModTime().Equal(now[i].ModTime()) {
			return false
		}
	}
	return true
}
